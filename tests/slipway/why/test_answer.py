"""The answer as text and as plain values."""

from __future__ import annotations

from slipway.why.answer import Answer, Evidence, Layer, Part

PART = Part(layer=Layer.VOLUME, cause="claim x does not exist", fix="create it", numbers={"claim": "x"})
SEEN = PART.seen(Evidence("condition PodScheduled of pod/train-1", "0/7 nodes\n  are available"))


def test_text_and_document_have_what_was_not_read() -> None:
    answer = Answer(subject="job/train", part=SEEN, unread=("Node of the cluster: not allowed",))
    assert answer.text().splitlines() == [
        "job/train waits for a volume: claim x does not exist; next: create it.",
        "  condition PodScheduled of pod/train-1: 0/7 nodes are available",
        "  not read: Node of the cluster: not allowed",
    ]
    document = answer.document()
    assert (document["layer"], document["held"], document["numbers"]) == ("volume", True, {"claim": "x"})
    assert document["notRead"] == ["Node of the cluster: not allowed"]


def test_of_what_does_not_exist_yet_the_sentence_says_would() -> None:
    assert Answer(subject="job/a", part=PART, planned=True).sentence.startswith("job/a would wait for a volume: claim")
    runs = Answer(subject="job/a", part=Part(layer=Layer.RUNS, cause=""))
    assert (runs.sentence, runs.held) == ("job/a runs.", False)
