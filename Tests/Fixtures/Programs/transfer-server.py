"""A web server with faults, for tests of transfers. It prints its port, then serves on the loopback address.

Each path is /KIND/NAME?KEY=VALUE&...; a NAME has its own counters, so that tests do not disturb each other.

/file/NAME?size=N   N bytes that depend on NAME alone. Further keys:
    drop=K,K,...    the n-th request gets at most the n-th number of bytes, and then the connection is closed
    stall=K,K,...   likewise, but the connection stays open, and nothing more is sent
    tags=A,B,...    the ETag of the n-th request; the last one is repeated; '-' sends none
    busy=S,S,...    the status of the n-th request instead of the file, with 'Retry-After: 0'; '-' sends the file
    claim=N         a Content-Length that differs from the size
    ranges=no       requests for a part get the whole file
    wrong=yes       requests for a part get a part that begins elsewhere
    gzip=yes        claims that the content is compressed
    chunked=E       sends the content in chunks, and fields after them; E is the Transfer-Encoding
    hold=yes        the answer waits until /release/NAME was requested
    gate=N          the same for the bytes from about N on
    dates=A,B,...   the Last-Modified of the n-th request, as a day of 2020, or 'now'; the last one is repeated; '-' sends
                    none
    blind=yes       If-Range is ignored: requests for a part get one, of any version
    parts=yes       a part claims to be several
    bare=yes        answers to requests for a part have no ETag
    rest=S          the status of answers to requests for a part, without a body
    pause=S         waits S seconds before the response
    chaos=SEED      a server in trouble: drops and stalls after random numbers of bytes, and answers some requests
                    with 503, as the seed says; the third request finds another ETag and another content
/raw/NAME?head=TEXT a status line of any form
/tls/NAME           the address of another server, whose certificate no one trusts, for the same paths
/put/NAME           accepts an upload; 'busy', 'drop' (K bytes are read), 'hold' and 'gate' as above. With 'chaos', a
                    third of the first 6 requests is dropped, stalls or is answered with 503
    answer=N        the length of the body of the answer
    status=S        the status of the answer
    redirect=S&to=URL   the answer to an upload is a redirect
    early=N         the first N requests are answered with 200 before their body is read
/at/NAME            how many bytes of an upload the newest request has brought
/release/NAME       lets the answers that wait go on
/seen/NAME          the requests of a NAME so far, as JSON: method, range, if-range, length and hash of the body
/redirect/NAME?to=URL&status=S&body=N   with a body of N bytes
/loop/NAME          a redirect to itself
/headers/NAME?lines=N&length=N
/interim/NAME?code=S&count=N   interim responses before the final one
/extended/NAME?size=N&extra=N  a chunked body with so many bytes of extensions
/star/NAME?size=N&part=N       3 MB of a chunked file, then parts of PART bytes without a total
/trailers/NAME?lines=N         fields after an empty body
/page/NAME          a short answer to any method, after the body of the request
/status/NAME?code=S&body=no
/endless/NAME?code=S              a body without an end
/hash/NAME?size=N   the SHA-256 of a file; its NAME ends with the ETag of the file, if that has one
"""
import functools
import hashlib
import http.server
import json
import random
import re
import select
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse

BLOCK = 1 << 20
seen = {}
released = {}
lock = threading.Lock()


@functools.lru_cache(maxsize=64)
def block_of(name):
    return random.Random(name).randbytes(BLOCK)


def content(name, first, last):
    """The bytes from first to last (exclusive) of a file: a block, repeated, with the number of the repetition."""
    block = block_of(name)
    while first < last:
        number, offset = divmod(first, BLOCK)
        piece = number.to_bytes(8, "little") + block[8:]
        part = piece[offset : min(BLOCK, offset + last - first)]
        yield part
        first += len(part)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def value(self, key, index=None, default=None):
        """The value of a key or, with an index, its part with that index; the last part counts for all others."""
        text = self.query.get(key, [None])[0]
        if text is None or index is None:
            return default if text is None else text
        parts = text.split(",")
        return parts[index] if index < len(parts) else default

    def begin(self):
        url = urllib.parse.urlsplit(self.path)
        self.query = urllib.parse.parse_qs(url.query)
        self.kind, _, self.name = url.path.strip("/").partition("/")
        with lock:
            requests = seen.setdefault(self.name, [])
            self.index = len(requests)
            self.entry = {
                "method": self.command,
                "path": self.path,
                "range": self.headers.get("Range"),
                "ifRange": self.headers.get("If-Range"),
                "headers": dict(self.headers),
            }
            if self.kind not in ("seen", "hash", "release", "at"):
                requests.append(self.entry)

    def answer(self, status, headers=(), body=b""):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def abort(self):
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def busy(self):
        status = self.value("busy", self.index, "-")
        if status == "-":
            return False
        self.answer(int(status), [("Retry-After", "0")], b"busy")
        return True

    def do_GET(self):
        self.begin()
        getattr(self, "get_" + self.kind, lambda: self.answer(404, body=b"not found"))()

    def get_seen(self):
        with lock:
            self.answer(200, body=json.dumps(seen.get(self.name, [])).encode())

    def get_release(self):
        self.gate().set()
        self.answer(200)

    def gate(self):
        with lock:
            return released.setdefault(self.name, threading.Event())

    def get_at(self):
        with lock:
            self.answer(200, body=str(seen.get(self.name, [{}])[-1].get("at", 0)).encode())

    def get_hash(self):
        digest = hashlib.sha256()
        for part in content(self.name, 0, int(self.value("size"))):
            digest.update(part)
        self.answer(200, body=digest.hexdigest().encode())

    def get_status(self):
        self.answer(int(self.value("code")), body=b"" if self.value("body") == "no" else b"an answer")

    def get_endless(self):
        self.send_response(int(self.value("code")))
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"x" * 65536)
        except OSError:
            self.close_connection = True

    def get_extended(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        left, extra = int(self.value("size")), int(self.value("extra"))
        step = extra // left
        try:
            for _ in range(left):
                self.wfile.write(b"1;" + b"x" * step + b"\r\nB\r\n")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True

    def get_star(self):
        size, part = int(self.value("size")), int(self.value("part"))
        content = bytes(size)
        rest = self.headers.get("Range")
        self.send_response(206 if rest else 200)
        self.send_header("ETag", '"star"')
        if rest:
            first = int(rest.removeprefix("bytes=").split("-")[0])
            content = content[first:first + part]
            self.send_header("Content-Range", f"bytes {first}-{first + len(content) - 1}/*")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        drops = self.index == 0
        self.wfile.write(b"%x\r\n" % size + (content[:3_000_000] if drops else content + b"\r\n0\r\n\r\n"))
        if drops:
            self.abort()

    def get_page(self):
        self.answer(200, body=b"done")

    def get_redirect(self):
        body = b"x" * int(self.value("body", default="0"))
        self.answer(int(self.value("status", default="302")), [("Location", self.value("to"))], body)

    def get_loop(self):
        self.answer(302, [("Location", f"{self.path.split('?')[0]}?n={self.index}")])

    def get_raw(self):
        self.wfile.write((self.value("head") + "\r\nContent-Length: 0\r\n\r\n").encode())

    def get_tls(self):
        self.answer(200, body=untrusted().encode())

    def get_interim(self):
        for _ in range(int(self.value("count"))):
            self.wfile.write(f"HTTP/1.1 {self.value('code')} Wait\r\nLink: </a>\r\n\r\n".encode())
        self.answer(200)

    def get_trailers(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
        for _ in range(int(self.value("lines"))):
            self.wfile.write(b"X-Check: yes\r\n")
        self.wfile.write(b"\r\n")

    def get_headers(self):
        self.send_response(200)
        length = int(self.value("length", default="20"))
        for number in range(int(self.value("lines"))):
            self.send_header(f"X-Line-{number}", "x" * length)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def get_file(self):
        if self.value("hold"):
            self.gate().wait(120)
        if self.busy():
            return
        if self.value("rest") and self.headers.get("Range"):
            self.answer(int(self.value("rest")))
            return
        size = int(self.value("size"))
        tags = self.value("tags", default='-').split(",")
        tag = tags[min(self.index, len(tags) - 1)]
        chaos = self.value("chaos")
        luck = random.Random(f"{chaos} {self.index}")
        fault = luck.choice(["drop", "drop", "stall", "busy"]) if chaos else ""
        if chaos:
            tag = "old" if self.index < 2 else "new"
            if fault == "busy":
                self.answer(503, [("Retry-After", "0")], b"busy")
                return
        time.sleep(float(self.value("pause", default="0")))
        days = self.value("dates", default="-").split(",")
        day = days[min(self.index, len(days) - 1)]
        date = "" if day == "-" else self.date_time_string() if day == "now" else f"Wed, {int(day):02} Jan 2020 00:00:00 GMT"
        # Another tag means other content.
        name = self.name if tag == "-" else self.name + tag
        first, status = 0, 200
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        condition = self.headers.get("If-Range")
        if wanted and self.value("ranges") != "no" and (
            condition in (None, f'"{tag}"', date) or self.value("blind")
        ):
            first, status = int(wanted[1]), 206
            if first >= size:
                self.answer(416, [("Content-Range", f"bytes */{size}")])
                return
        shown = first + 1 if status == 206 and self.value("wrong") else first
        self.send_response(status)
        if tag != "-" and not (status == 206 and self.value("bare")):
            self.send_header("ETag", f'"{tag}"')
        if date:
            self.send_header("Last-Modified", date)
        if self.value("gzip"):
            self.send_header("Content-Encoding", "gzip")
        if status == 206 and self.value("parts"):
            self.send_header("Content-Type", "multipart/byteranges; boundary=x")
        if status == 206:
            self.send_header("Content-Range", f"bytes {shown}-{size - 1}/{size}")
        if self.value("chunked"):
            self.send_header("Transfer-Encoding", self.value("chunked"))
            self.end_headers()
            for part in content(name, shown, size):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.write(b"0\r\nX-Check: yes\r\nETag: \"other\"\r\n\r\n")
            return
        self.send_header("Content-Length", self.value("claim") or str(size - shown))
        self.end_headers()
        stall = self.value("stall", self.index)
        limit = self.value("drop", self.index) or stall or "-"
        if chaos:
            limit = str(luck.randrange(1 << 20, max(2 << 20, size // 4)))
            stall = limit if fault == "stall" and first + int(limit) < size else None
        last = size if limit == "-" else min(size, first + int(limit))
        gate, at = int(self.value("gate", default="0")), shown
        for part in content(name, shown, last):
            if 0 < gate <= at:
                self.gate().wait(120)
            self.wfile.write(part)
            at += len(part)
        if stall and stall != "-":
            self.wfile.flush()
            self.connection.recv(1)  # until the client closes the connection
            self.close_connection = True
        elif last < size or self.value("claim"):
            self.abort()

    def is_gone(self, milliseconds):
        """Waits until the client of an upload has closed the connection; returns whether it has."""
        # There may be bytes to read, so the end shows only as an event of the connection.
        poll = select.poll()
        poll.register(self.connection, select.POLLRDHUP)
        return bool(poll.poll(milliseconds))

    def handle_expect_100(self):
        # An early answer comes in place of '100 Continue'.
        return "early=" in self.path or super().handle_expect_100()

    def do_PUT(self):
        self.begin()
        length = int(self.headers.get("Content-Length") or 0)
        if self.index < int(self.value("early", default="0")):
            self.close_connection = True
            self.answer(200, [("Connection", "close")])
            return
        limit = self.value("drop", self.index, "-")
        if limit != "-":
            self.rfile.read(min(length, int(limit)))
            self.abort()
            return
        if self.value("hold"):
            self.gate().wait(120)
        chaos = self.value("chaos")
        luck = random.Random(f"{chaos} {self.index}")
        fault = luck.choice(["drop", "stall", "busy"] + ["none"] * 6) if chaos and self.index < 6 else "none"
        least = luck.randrange(length // 2, length) if fault in ("drop", "stall") else 0
        gate = int(self.value("gate", default="0"))
        digest, left = hashlib.sha256(), length
        while left > least:
            if 0 < gate <= length - left:
                self.gate().wait(600)
                if self.is_gone(0):
                    break  # what it sent before is still in the buffers
            part = self.rfile.read(min(left - least, BLOCK))
            if not part:
                break
            digest.update(part)
            left -= len(part)
            self.entry["at"] = length - left
        if left > 0:
            if fault == "stall":
                self.is_gone(60_000)
            self.abort()
            return
        with lock:
            self.entry.update(length=length - left, sha256=digest.hexdigest())
        if fault == "busy":
            self.answer(503, [("Retry-After", "0")], b"busy")
        elif self.value("redirect"):
            self.answer(int(self.value("redirect")), [("Location", self.value("to"))])
        elif not self.busy():
            self.entry["accepted"] = True
            self.answer(int(self.value("status", default="201")), body=b"thanks" + b"!" * (int(self.value("answer", default="6")) - 6))

    do_POST = do_PATCH = do_PUT


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        pass  # a client that goes away is part of the tests


def untrusted():
    """Starts a server with a certificate of its own for another name; returns its address."""
    with tempfile.TemporaryDirectory() as place:
        files = ["-keyout", place + "/key", "-out", place + "/certificate"]
        made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        subprocess.run(made + files + ["-subj", "/CN=other.example"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(place + "/certificate", place + "/key")
    secure = Server(("127.0.0.1", 0), Handler)
    secure.socket = context.wrap_socket(secure.socket, server_side=True)
    threading.Thread(target=secure.serve_forever, daemon=True).start()
    return f"https://127.0.0.1:{secure.server_address[1]}"


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
