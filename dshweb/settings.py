"""All settings, from the environment. `env.declared` is the list that the README's table is checked against."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

from dshweb.env import Env, database, only_sends, secret_key

env = Env()
BASE_DIR = Path(__file__).resolve().parent.parent

DATA_DIR = env.path(
    "DSHWEB_DATA_DIR", BASE_DIR / "var", "folder that holds all state: database, logs, queue, secret key", shown="var/"
)
STATELESS = only_sends(sys.argv)
if not STATELESS:
    DATA_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
DEBUG = env.flag("DEBUG", default=False, meaning="Django's debug pages; never on a server others can reach")
SECRET_KEY = env.text("SECRET_KEY", "", "signing key; made once under the data folder when empty")
SECRET_KEY = secrets.token_urlsafe(48) if STATELESS else secret_key(SECRET_KEY, DATA_DIR)
ALLOWED_HOSTS = env.words(
    "ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]", "host names the server answers to, separated by commas"
)
CSRF_TRUSTED_ORIGINS = env.words(
    "CSRF_TRUSTED_ORIGINS", "", "origins (https://host) that may post forms, behind a proxy"
)
DATABASES = {
    "default": database(
        env.text("DATABASE_URL", "", "sqlite:///path or postgresql://user:password@host/name; SQLite when empty"),
        DATA_DIR / "db.sqlite3",
    )
}
REDIS_URL = env.text(
    "REDIS_URL", "", "redis://host:6379/0 for queue and cache; without it both live in the data folder"
)
BEHIND_TLS = env.flag(
    "BEHIND_TLS", default=False, meaning="a proxy in front speaks TLS: secure cookies, HSTS, X-Forwarded-Proto"
)
TIME_ZONE = env.zone(
    "TIME_ZONE",
    "UTC",
    "time zone of the times on pages; those shown on hover are in the browser's own once its script has run",
)
LANGUAGE_CODE = env.choice(
    "LANGUAGE_CODE", "en", ("en", "zh-hans"), "language for callers that ask for none: en or zh-hans"
)
LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"), "DEBUG, INFO, WARNING or ERROR")

# limits of what is read from a log; see dshweb.sessionlog.core.frames.Limits
MAX_LOG_BYTES = env.number("MAX_LOG_BYTES", 4 << 30, "largest log, decompressed, in bytes", least=1)
MAX_FRAME_BYTES = env.number("MAX_FRAME_BYTES", 64 << 20, "largest frame or row, decompressed, in bytes", least=1)
MAX_RATIO = env.number("MAX_RATIO", 10_000, "largest decompressed : compressed ratio of a frame", least=1)
MAX_UPLOAD_BYTES = env.number(
    "MAX_UPLOAD_BYTES", 1_000_000_000, "largest log handed in by page or API, as it is sent, in bytes", least=1
)
MAX_STORED_TEXT = env.number(
    "MAX_STORED_TEXT", 262_144, "characters of one message kept in the database; the rest stays in the log", least=1024
)
WATCH_POLL_SECONDS = env.number(
    "WATCH_POLL_SECONDS", 10, "how often a watched folder is walked besides notifications", least=1
)
TASK_LEASE_SECONDS = env.number(
    "TASK_LEASE_SECONDS", 60, "a task without a heartbeat this long is given to another worker", least=5
)

WEB_WORKERS = env.number("WEB_WORKERS", 2, "web server processes of serve, four threads each", least=1)

# modules, besides each app's tasks.py, that register kinds of tasks
TASK_MODULES = ["dshweb.pipeline"]

INSTALLED_APPS = [
    "dshweb.ui.late_admin.LateAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "csp",
    "dshweb.access",
    "dshweb.tasks",
    "dshweb.sessionlog",
    "dshweb.ui",
    "audit",
    "compaction",
    "dshweb",
]
MIDDLEWARE = [
    "dshweb.access.middleware.SecurityHeaders",
    "compaction.fence.Fence",
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",  # with random padding, against guessing by length (BREACH)
    "dshweb.access.middleware.Private",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "dshweb.api.middleware.ApiErrors",
    "dshweb.ui.middleware.RefuseNul",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "dshweb.access.middleware.BodyLimit",
    "dshweb.api.middleware.LoginOutsideTheApi",
    "dshweb.ui.preferences.PersonLanguageMiddleware",
    "dshweb.ui.preferences.PersonTimeZoneMiddleware",
    "dshweb.access.middleware.CallerMiddleware",
    "dshweb.sessionlog.receiving.UploadsAtOnce",
    "dshweb.access.middleware.StrangersInTurn",
    "django.contrib.messages.middleware.MessageMiddleware",
]
ROOT_URLCONF = "dshweb.urls"
WSGI_APPLICATION = "dshweb.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dshweb.ui.context.page",
            ],
            "builtins": ["dshweb.ui.templatetags.dshweb"],
        },
    }
]

AUTH_USER_MODEL = "access.User"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
SILENCED_SYSTEM_CHECKS: list[str] = []

USE_TZ = True
USE_I18N = True
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale", DATA_DIR / "locale"]  # .po as committed; .mo as compiled by dshweb.ui

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    # the logs, byte for byte as they came
    "logs": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": DATA_DIR / "logs", "file_permissions_mode": 0o600, "directory_permissions_mode": 0o700},
    },
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

CACHES = {
    "default": (
        {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
        if REDIS_URL
        else {
            "BACKEND": "dshweb.file_cache.FileCache",
            "LOCATION": DATA_DIR / "cache",
            "OPTIONS": {"MAX_ENTRIES": 10_000},
        }
    )
}

# Nothing inline and nothing from elsewhere, on our pages and the admin's: no nonce is needed.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = BEHIND_TLS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = LANGUAGE_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = LANGUAGE_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = "dshweb_session"
CSRF_COOKIE_NAME = "dshweb_csrf"
if BEHIND_TLS:
    # a cookie of this prefix cannot be set by a neighbouring host name nor over plain http
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"__Host-{SESSION_COOKIE_NAME}", f"__Host-{CSRF_COOKIE_NAME}"
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]  # asked by machines beside us, without TLS
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 << 20
# files are taken at the upload addresses only, from people who may bring logs in
FILE_UPLOAD_HANDLERS = ["dshweb.sessionlog.receiving.ReceiveLogs"]
# where bodies may be larger than that: see dshweb.access.middleware.BodyLimit
LARGE_BODIES = ("/api/v1/logs", "/upload/")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "dshweb.log.Line", "fmt": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
        "brief": {"()": "dshweb.log.Brief", "fmt": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line"},
        "brief": {"class": "logging.StreamHandler", "formatter": "brief"},
    },
    "loggers": {
        "django.security.DisallowedHost": {"handlers": ["brief"], "propagate": False},
        "django.dispatch": {"level": "CRITICAL"},  # whoever uses send_robust says himself what failed
        "watchfiles": {
            "level": "WARNING"
        },  # "1 change detected" at every write, beside the line that says what was done
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
}
