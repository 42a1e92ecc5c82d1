"""The collector: ships a person's logs to a team's server. No database, no Django, nothing kept on this machine.

`client` speaks to the server and says what its answers mean, `sender` ships one log, `names` says what a log is called there;
the command `push` drives them. The other end is dshweb.sessionlog.services.pieces; `agreed` is what both hold to.
"""
