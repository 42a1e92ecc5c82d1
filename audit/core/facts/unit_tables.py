"""The tables behind `units`: canon and spellings as text, one row a line (COMPACTION-AUDIT §4, AUDIT-REFINEMENTS §2.3;
rows beyond these two are ours: units and nouns that people count with in conversations about software)."""

from __future__ import annotations

# canon: English spellings, compared in lower case; singular is allowed (`30 second timeout`).
MEASURES = """
KB: kb
MB: mb
GB: gb
TB: tb
PB: pb
KiB: kib
MiB: mib
GiB: gib
TiB: tib
KB/s: kb/s kbyte/s
MB/s: mb/s
GB/s: gb/s
KiB/s: kib/s
MiB/s: mib/s
GiB/s: gib/s
Kbps: kbps kbit/s
Mbps: mbps mbit/s
Gbps: gbps gbit/s
ns: ns nanosecond nanoseconds
us: us µs microsecond microseconds
ms: ms msec millisecond milliseconds
s: s sec secs second seconds
min: min mins minute minutes
h: h hr hrs hour hours
day: day days
week: week weeks
month: month months
year: year years yr yrs
%: % percent pct
pp: pp
px: px pixel pixels
Hz: hz
kHz: khz
MHz: mhz
GHz: ghz
km: km
cm: cm
mm: mm
µm: µm um μm
nm: nm
kg: kg
mg: mg
kWh: kwh
mAh: mah
µA: µa ua μa
mA: ma
mV: mv
nF: nf
µF: µf uf μf
pF: pf
µL: µl ul μl
mol: mol
mmol: mmol
kPa: kpa
hPa: hpa
MPa: mpa
kJ: kj
kcal: kcal
lux: lux
THz: thz
MWh: mwh
kW: kw
kΩ: kω kohm
Ω: ω ohm
dB: db
dBm: dbm
ppm: ppm
°C: °c ℃
°F: °f ℉
x: x
qps: qps
tps: tps
rps: rps
fps: fps
rpm: rpm
iops: iops
元: rmb cny yuan
USD: usd dollar dollars
EUR: eur euro euros
GBP: gbp
"""

# Counted English nouns, singular; plural behind a number other than 1 unless joined by `-`.
NOUNS = """
byte token line file time test row record item user request error commit node replica worker thread connection
retry attempt point core job case failure column table event message turn batch ticket server package function
run pod instance shard partition image document entry key query host machine container device task session
warning endpoint iteration epoch sample module class process vulnerability gpu cpu card goroutine coroutine
example finding participant entity migration hit grant cent reader writer consumer producer broker cluster
region branch tag
"""

# canon: Chinese nouns, behind a classifier (个 条 台 …) or, but for NEEDS_CLASSIFIER, directly.
ZH_NOUNS = """
test: 测试用例 测试
case: 用例 案例
record: 记录
item: 条目
user: 用户
request: 请求
error: 错误
commit: 提交
node: 节点
replica: 副本
worker: 工作进程 工作线程
thread: 线程
process: 进程
connection: 连接
retry: 重试
attempt: 尝试
core: 核心 核
job: 作业
task: 任务
failure: 失败
column: 列 字段
table: 表
event: 事件
message: 消息
batch: 批次
ticket: 工单
server: 服务器
package: 软件包 包
function: 函数
页: 页面
步: 步骤
shard: 分片
partition: 分区
instance: 实例
container: 容器
endpoint: 接口
module: 模块
host: 主机
machine: 机器
session: 会话
warning: 警告 告警
image: 图片 镜像
document: 文档
sample: 样本
query: 查询
device: 设备
key: 键
token: 词元
char: 字符
byte: 字节
file: 文件
line: 行
pod: Pod
point: 点
"""
NEEDS_CLASSIFIER = """
条目 提交 重试 尝试 任务 作业 失败 列 表 包 键 点 案例 用例 事件 消息 文档 图片 镜像 接口
模块 主机 机器 会话 查询 设备
"""

# Chinese measures: spelling, canon, and the characters that make another word of it when they follow.
ZH_MEASURES = """
纳秒 ns
微秒 us
毫秒 ms
秒钟 s
秒 s 杀
分钟 min
个小时 h
个钟头 h
小时 h
个工作日 workday
个自然日 day
天 day 空津气猫文然真使
个星期 week
星期 week 一二三四五六日天
个周 week
周 week 一二三四五六日末边围期报年
个月 month
年 year 级轻份底初末代会货糕
个季度 quarter
字节 byte
个字节 byte
字符 char 串
个字符 char 串
个汉字 char
个字 char 段节典符体幕号面母
字 char 段典体幕号面母串
行 line 业动为程政星
次 time 要序元方级品
倍 x
百分点 pp
个百分点 pp
像素 px
赫兹 Hz
千米 km
公里 km
厘米 cm
毫米 mm
微米 µm
纳米 nm
毫安 mA
毫伏 mV
千帕 kPa
兆帕 MPa
分贝 dB
米 m 饭粉
千克 kg
公斤 kg
毫克 mg
克 g 服制隆
吨 t
摄氏度 °C
度 度 假过量
美元 USD
美金 USD
欧元 EUR
英镑 GBP
人民币 元
块钱 元
元 元 素组旦宵件
人次 人次
个人 人 信资数中化
人 人 民工类员均家生
页 页 码脚眉
步 步 进伐行
轮 轮 廓播询胎
核 core 心对查实
道 道 路理具
"""

# Chinese counters without a noun: spelling (also the canon) and the characters that must not follow.
ZH_COUNTERS = """
个 体性别
条 件款形
项
份
台 湾北阶风式
段
期 间待望限货权末中初
张 力
篇 幅
笔 记者
家 庭
户 口
套 餐件
名 称字单
位 置数
"""
