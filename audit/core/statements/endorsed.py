"""Someone else's consent in a summary: `李敏已同意对外披露`, `Marta from legal has signed off`.

Rule: AUDIT-REFINEMENTS §2.5 (user_consent), FR-008. It can be checked only when a human spoke of that person as someone
who has to agree or look at something; then some leaf that is no injected notice must say that they did.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from audit.core.statements.consent import YES, clauses_of
from audit.core.statements.model import Claim
from audit.core.statements.pieces import body, lines, pieces, speech

_I = re.IGNORECASE
_ZH = re.compile(
    r"(?P<who>[\u3400-\u9fffA-Za-z·]{2,12}?)(?:已经|已|也|都|均)+"
    r"(?:口头|书面|明确|签字)?(?:同意|批准|授权|许可|答应|认可|确认|通过|签字|签批|点头|放行)(?!后|前|之后|之前|才|再|的话|书|单|函)"
)
_EN = re.compile(
    r"\b(?P<who>[A-Z][a-z]+|(?i:legal|finance|security|compliance|management|client|customer|boss|manager|lead|board|"
    r"owner|reviewer|team))(?: [A-Z][a-z]+)?(?: (?:from|of|in) [\w ]{2,20}?)?(?: has| have| had)?(?: already| also| now)?"
    r" (?:signed off|approved|agreed|consented|authori[sz]ed|okayed|confirmed|accepted|given (?:the |their |her |his )?"
    r"(?:ok|okay|approval|consent|go-ahead|green light)|gave (?:the |their |her |his )?(?:ok|okay|approval|consent|"
    r"go-ahead|green light))\b"
)
_LEAD_ZH = re.compile(r"^(?:目前|现在|另外|此外|并且|而且|同时|且|现|经)+")
_USER = re.compile(r"^(?:the )?(?:user|human)s?$|^用户", _I)
_NOT_YET = re.compile(
    r"\b(?:not|n't|never|until|unless|if|when|once|before|after|wait\w*|await\w*|pending|whether|should|must)\b|"
    r"等|待|未|没|尚|需|须|若|如果|除非|是否|请|让|不|否则",
    _I,
)
# Right before the name someone is asked or waited for, right behind it they decide or look.
_ASKED = re.compile(
    r"(?:等|给|找|问|请|让|由|经|跟|和|需要?|通知|@)\s*$|\b(?:from|by|with|until|before|unless|for|ask|tell|once|after|when|if|@)"
    r"\s*(?:the )?$",
    _I,
)
_DECIDES = re.compile(
    r"^(?:[\u3400-\u9fff]{0,4}?(?:批|审|签|同意|确认(?!一下|下|清楚|原因)|点头|过目|复核|拍板|看[一下看过])|"
    r"[\w ]{0,30}?\b(?:sign\w*|approv\w+|agree\w*|confirm\w*|ok\w*|review\w*|consent\w*|permi\w+|say|says|looks?|decid\w+)\b)",
    _I,
)
_AROUND = 40
MAX_ENDORSED = 50
MAX_PLACES = 50


def claimed_endorsements(summary_text: str) -> list[Claim]:
    """Clauses that say someone other than the user agreed; the text is that clause."""
    found: list[Claim] = []
    for _, at, line in lines(summary_text):
        for start, end in pieces(line, body(line)):
            hit = _ZH.search(line, start, end) or _EN.search(line, start, end)
            if hit is None or _USER.match(_named(hit["who"])) or speech(line[:end], start):
                continue
            if _NOT_YET.search(line[start : hit.start("who")][-60:]):
                continue
            found.append(Claim("user_consent", summary_text[at + start : at + end], at + start, at + end, "other"))
            if len(found) >= MAX_ENDORSED:
                return found
    return found


def _named(who: str) -> str:
    return _LEAD_ZH.sub("", who)


def names_of(claim_text: str) -> tuple[str, ...]:
    """The spellings under which humans may have spoken of the person: the whole name, then what it ends in."""
    hit = _ZH.search(claim_text) or _EN.search(claim_text)
    if hit is None:
        return ()
    who = _named(hit["who"])
    if who.isascii():
        return (who,)
    return tuple(dict.fromkeys(who[at:] for at in range(max(1, len(who) - 1))))


def asked_for(names: Iterable[str], human_texts: Iterable[str]) -> str | None:
    """The name under which a human spoke of a person who has a say, None when none did."""
    texts = tuple(human_texts)
    for name in names:
        for text in texts:
            for at in _places(name, text):
                end = at + len(name)
                if _ASKED.search(text[max(0, at - _AROUND) : at]) or _DECIDES.match(text[end : end + _AROUND]):
                    return name
    return None


def agreed(name: str, texts: Iterable[str]) -> bool:
    """Whether a clause says plainly that this person agreed."""
    for text in texts:
        for at in _places(name, text):
            start = max(text.rfind("\n", 0, at) + 1, at - 5 * _AROUND)
            end = text.find("\n", at)
            line = text[start : min(len(text) if end < 0 else end, at + 5 * _AROUND)]
            line = line.replace(name + ":", name + " ").replace(name + "：", name)  # `李敏: 同意`
            if any(clause.plain and name in clause.text and YES.search(clause.text) for clause in clauses_of(line)):
                return True
    return False


def _places(name: str, text: str) -> Iterator[int]:
    """The first MAX_PLACES occurrences of a name, not nearer to each other than what is looked at around one."""
    at = text.find(name)
    left = MAX_PLACES
    while at >= 0 and left:
        yield at
        left -= 1
        at = text.find(name, at + _AROUND)
