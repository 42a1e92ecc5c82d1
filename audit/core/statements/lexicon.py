"""Words that say the same in rules, across Chinese and English: actions and things that coding agents are told about.

Our own small list. It serves only to see that a rule is still there in other words or in the other language; it never
makes a finding by itself. English words are compared by `stem`.
"""

from __future__ import annotations

import re

_GROUPS = """
delete deletion remove removal drop erase purge truncate wipe 删除 删 移除 清空 清除
commit 提交
push 推送
publish publication release 发布 上线 发版
deploy deployment rollout 部署
change modify modification edit touch alter amend unchanged untouched intact frozen 修改 改动 更改 改 动 碰 变更 触碰 不变
restart reboot 重启
overwrite 覆盖
rename 重命名 改名
merge 合并
upgrade update bump 升级 更新
downgrade 降级
install installation 安装 装
run execute execution 运行 执行 跑
write 写 编写
create creation add addition introduce 新增 新建 创建 添加 增加 加 引入
log print 日志 打印
encrypt encryption 加密
test 测试 单测
database db 数据库 库
table 表
column field 字段 列
production prod 生产 线上
staging 预发
branch 分支
main master 主干 主分支
migrate migration 迁移
comment 注释
dependency dependencies deps package library 依赖 第三方库 包
backup 备份
api interface endpoint 接口
password passwd 密码
secret credential key token 密钥 凭证 口令
config configuration configure 配置
cache 缓存
english 英文 英语
chinese 中文 汉语
weekend saturday sunday 周末 周六 周日
friday 周五
holiday 节假日
review 评审 审查 审核
decide decision await wait pending 决定 定夺 拍板 等待 待定
approve approval permission confirm confirmation 批准 同意 确认 许可
ask question 询问 问
customer client 客户
send email mail 发送 邮件
schema 表结构 结构
document documentation docs doc readme 文档
rollback revert 回滚
format 格式
style 风格
indent indentation 缩进
spaces space 空格
tab 制表符
regex regexp regular 正则
framework 框架
network internet 网络 外网 联网
generate generation 生成
automatic auto 自动
manual manually 手动 人工
public 公开 公共
file 文件
directory folder 目录 文件夹
data 数据
money amount price 金额 价格
float 浮点
integer int 整数
timezone utc 时区
retry 重试
parallel concurrent concurrency 并发 并行
thread 线程
global 全局
variable 变量
function 函数
class 类
type 类型
hardcode hardcoded 硬编码 写死
mock 模拟
skip 跳过
disable 禁用 关闭 关掉
enable 启用 开启 打开
force 强制
old legacy 旧 老
new 新
existing 现有 已有
original 原始 原来
source 源码
download 下载
upload 上传
share 分享
train training 训练
validate validation 校验 验证
version 版本
keep preserve retain 保留
"""
_ENDINGS = re.compile(r"(?:'s|ies|ied|ying|ings?|edly|ed|es|s|e|y|ally|ly|ation|ations|ment|ments|er|ers)$")


def stem(word: str) -> str:
    """A crude English stem: `commits`, `committed`, `committing` → `commit`. Only good for comparing with itself."""
    low = word.lower()
    if len(low) <= 3 or not low.isascii():
        return low
    cut = _ENDINGS.sub("", low)
    if len(cut) < 3:
        cut = low.rstrip("s") if len(low) > 3 else low
    if len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in "aeiou":
        cut = cut[:-1]
    return cut


_MEMBERS: dict[str, tuple[str, ...]] = {}
for _line in _GROUPS.split("\n"):
    _words = tuple(dict.fromkeys(stem(w) for w in _line.split()))
    for _word in _words:
        _MEMBERS[_word] = tuple(dict.fromkeys((*_MEMBERS.get(_word, ()), *_words)))
HAN_WORDS = tuple(sorted((w for w in _MEMBERS if not w.isascii()), key=lambda w: (-len(w), w)))
_HAN_WORD = re.compile("|".join(HAN_WORDS))


def alternatives(term: str) -> tuple[str, ...]:
    """A term and the words that say the same; Han terms longer than a listed word have none."""
    return _MEMBERS.get(term, (term,)) if term in _MEMBERS else (term,)


def concepts(han_text: str) -> list[str]:
    """Listed Han words in a text, longest first at each place."""
    return _HAN_WORD.findall(han_text)
