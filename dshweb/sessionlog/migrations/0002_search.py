"""The text index over messages: FTS5 on SQLite, tsvector on PostgreSQL."""

from django.db import migrations


def make(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            "CREATE TABLE sessionlog_search (message_id bigint PRIMARY KEY"
            " REFERENCES sessionlog_message (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, words tsvector NOT NULL)"
        )
        schema_editor.execute("CREATE INDEX sessionlog_search_words ON sessionlog_search USING gin (words)")
    else:
        # words as dshweb.text.cjk makes them, not taken apart again
        schema_editor.execute(
            "CREATE VIRTUAL TABLE sessionlog_search USING fts5"
            " (words, tokenize = \"unicode61 remove_diacritics 0 tokenchars '._+#/-'\")"
        )
        schema_editor.execute(
            "CREATE TRIGGER sessionlog_search_forget AFTER DELETE ON sessionlog_message"
            " BEGIN DELETE FROM sessionlog_search WHERE rowid = old.id; END"
        )


def drop(apps, schema_editor):
    if schema_editor.connection.vendor != "postgresql":
        schema_editor.execute("DROP TRIGGER IF EXISTS sessionlog_search_forget")
    schema_editor.execute("DROP TABLE sessionlog_search")


class Migration(migrations.Migration):
    dependencies = [("sessionlog", "0001_initial")]
    operations = [migrations.RunPython(make, drop)]
