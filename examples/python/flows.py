"""Flows over the HTTP interface of a deployment, which docs/http.md describes: tasks that wait for each other.

A task is a dict of ``queue``, ``payload``, which may be bytes, and options, named as in `records.new_task`; in a flow
also of ``ref`` and ``after``. What the deployment refuses is a :class:`SluiceError` with the code of the problem.
"""

from __future__ import annotations

import base64
import http.client
import json
import random
import re
import secrets
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote

from records import NOTHING, SluiceError
from rest import TRIES, Unanswered

AGAIN = {"internal", "body_too_slow", "unexpected_reply", "redis_not_writable", "redis_unreachable", "offload_failed"}
"""The problems after which the same request can succeed."""


class Deployment:
    """The HTTP interface at a URL, without ``/v1``, and one of its tokens."""

    def __init__(self, url: str, token: str):
        self._url, self._token = url.rstrip("/"), token

    def get(self, path: str) -> Any:
        """The answer to a GET; the path begins with ``/v1``."""
        return self._answer("GET", path, None, {})

    def post(self, path: str, body: dict[str, Any], key: str | None = None) -> Any:
        """The answer to a POST. Each copy has the same key, so that it has no second effect: by default a new one."""
        return self._answer("POST", path, body, {"Idempotency-Key": key or secrets.token_urlsafe(12)})

    def _answer(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json", **headers}
        text = None if body is None else json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        for copy in range(TRIES):
            try:
                request = urllib.request.Request(self._url + path, text, headers, method=method)
                with _opener.open(request, timeout=30) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                failure = _problem(error)
                if not isinstance(failure, Unanswered):
                    raise failure from None
            except (OSError, http.client.HTTPException, ValueError) as error:
                failure = Unanswered("no_answer", f"the deployment gave no answer: {type(error).__name__}")
            if copy < TRIES - 1:
                time.sleep(random.uniform(0, 0.1 * 2**copy))
        raise failure


class Flows:
    """Flows of a deployment. Each method is one request."""

    def __init__(self, url: str, token: str):
        self.deployment = Deployment(url, token)

    def flow(
        self,
        tasks: list[dict[str, Any]],
        id: str | None = None,
        on_failure: str | None = None,
        key: str | None = None,
    ) -> dict[str, Any]:
        """Adds tasks that wait for each other, all or none. Gives the ``id`` of the flow, whether this call has
        ``created`` it, and ``tasks``, the id of each by its ref.

        ``after`` is a ref, ``{"ref": …, "on": "ended"}`` or a list of these. A dict of ``ref`` and ``flow`` is a flow
        within this one. ``on_failure="cancel"`` cancels the others when a task fails. A second call with the same
        ``key``, or the same ``id``, adds nothing.
        """
        return self._add({"tasks": [_item(task) for task in tasks]}, id, on_failure, key)

    def batch(
        self,
        tasks: list[dict[str, Any]],
        completed: dict[str, Any] | None = None,
        failed: dict[str, Any] | None = None,
        ended: dict[str, Any] | None = None,
        id: str | None = None,
        on_failure: str | None = None,
        key: str | None = None,
    ) -> dict[str, Any]:
        """Adds tasks side by side, and tasks that follow when all have completed, when one has failed, and when all
        have ended. The refs of these are ``completed``, ``failed`` and ``ended``; those of the others are by default
        1, 2 and so on."""
        following = _given(completed=completed, failed=failed, ended=ended)
        body = {"tasks": [_item(task) for task in tasks], **{name: _item(task) for name, task in following.items()}}
        return self._add(body, id, on_failure, key)

    def get(self, id: str) -> dict[str, Any] | None:
        """What has become of a flow; None if it is not known. The fields are those of the HTTP interface."""
        return _found(lambda: self.deployment.get(_path(id)))

    def cancel(self, id: str, key: str | None = None) -> dict[str, Any] | None:
        """Cancels what has not ended: how many were ``cancelled``, and how many that work were ``flagged``. None if
        the flow is not known."""
        return _found(lambda: self.deployment.post(f"{_path(id)}/cancel", {}, key))

    def redrive(self, id: str, key: str | None = None) -> dict[str, Any] | None:
        """Redrives what failed: how many were ``redriven``. None if the flow is not known."""
        return _found(lambda: self.deployment.post(f"{_path(id)}/redrive", {}, key))

    def before(self, queue: str, id: str) -> dict[str, dict[str, Any]]:
        """What became of the tasks that this one waited for, by ref: ``state``, and ``result``, or ``error`` and
        ``reason``."""
        tasks = self.deployment.get(_before(queue, id))["tasks"]
        return {ref: _values(task) for ref, task in tasks.items()}

    def add_before(
        self, queue: str, id: str, receipt: str, ref: str, tasks: list[dict[str, Any]], key: str | None = None
    ) -> dict[str, Any]:
        """Adds tasks in front of the one with the ref, which waits for the task of the receipt. Gives ``created`` and
        ``tasks``. It is refused with ``lease_lost``, or with ``not_blocked`` if nothing waits there any more."""
        body = {"receipt": receipt, "ref": ref, "tasks": [_item(task) for task in tasks]}
        return self.deployment.post(_before(queue, id), body, key)

    def _add(self, body: dict[str, Any], id: str | None, on_failure: str | None, key: str | None) -> dict[str, Any]:
        return self.deployment.post("/v1/flows", {**body, **_given(id=id, onFailure=on_failure)}, key)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect could lead the token elsewhere, and make a GET of a POST."""

    def redirect_request(self, *_: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _problem(error: urllib.error.HTTPError) -> SluiceError:
    try:
        problem = json.load(error)
        code, detail = problem["code"], problem.get("detail", "")
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError, AttributeError):
        # It is of another server, such as a proxy.
        code, detail = None, f"the deployment answered with status {error.code}"
    if code in AGAIN or (code is None and (error.code in (408, 429) or error.code >= 500)):
        return Unanswered(code or "http_error", detail)
    return SluiceError(code or "http_error", detail)


def _item(task: dict[str, Any]) -> dict[str, Any]:
    """A task or an inner flow, as it is sent."""
    item = {re.sub("_(.)", lambda match: match[1].upper(), name): value for name, value in task.items()}
    if "flow" in item:
        item["flow"] = [_item(inner) for inner in item["flow"]]
    if isinstance(item.get("payload"), (bytes, bytearray)):
        item.update(payload=base64.b64encode(item["payload"]).decode(), encoding="base64")
    return item


def _values(task: dict[str, Any]) -> dict[str, Any]:
    """What the deployment says of a task, with bytes where it has them."""
    for name, encoding in (("result", "encoding"), ("error", "errorEncoding")):
        if task.pop(encoding, None):
            task[name] = base64.b64decode(task[name])
    return task


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _found(call: Any) -> Any:
    try:
        return call()
    except SluiceError as error:
        if error.code != "not_found":
            raise
        return None


def _path(id: str) -> str:
    return f"/v1/flows/{quote(id, safe='')}"


def _before(queue: str, id: str) -> str:
    return f"/v1/queues/{quote(queue, safe='')}/tasks/{quote(id, safe='')}/before"
