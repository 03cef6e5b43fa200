"""Downloads from servers whose certificates an authority of this script has signed, for right and wrong names.

Usage: certificates.py BIN, as root and in a mount namespace of its own, with the directory of the programs. The
script mounts the authority's certificate over the system's list. The download from the server with the right
name must succeed, and that from the other one must fail at once, with an error that says why. Exits with 0 if
so; otherwise, it says what is wrong.
"""
import http.server
import os
import pathlib
import ssl
import subprocess
import sys
import threading

from trouble import Trouble

TRUSTED = "/etc/ssl/certs/ca-certificates.crt"


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def new_key(place, name):
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", f"{place}/{name}.key")


def certificate(place, name, subject):
    """Makes a certificate for a subject, as in a subjectAltName; returns its path."""
    new_key(place, name)
    openssl("req", "-new", "-key", f"{place}/{name}.key", "-subj", f"/CN={name}", "-out", f"{place}/{name}.request")
    (place / f"{name}.names").write_text(f"subjectAltName={subject}\n")
    openssl("x509", "-req", "-in", f"{place}/{name}.request", "-CA", f"{place}/authority", "-CAkey",
            f"{place}/authority.key", "-extfile", f"{place}/{name}.names", "-days", "2", "-out", f"{place}/{name}")
    return place / name


def serve(path):
    """Serves an empty directory with a certificate; returns the address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, f"{path}.key")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"https://127.0.0.1:{server.server_address[1]}"


with Trouble(sys.argv[1], "certificates") as world:
    keys = pathlib.Path(world.place / "keys")
    (keys / "pages").mkdir(parents=True)
    (keys / "pages/page").write_text("a page")
    new_key(keys, "authority")
    openssl("req", "-x509", "-new", "-key", f"{keys}/authority.key", "-subj", "/CN=Authority of the tests",
            "-days", "2", "-out", f"{keys}/authority")
    right, wrong = certificate(keys, "right", "IP:127.0.0.1"), certificate(keys, "wrong", "DNS:other.example")
    subprocess.run(["mount", "--bind", keys / "authority", TRUSTED], check=True)
    os.chdir(keys / "pages")
    world.start()
    out = world.place / "out"
    answer = world.bgtask("transfer", serve(right) + "/page", "--to", str(out), "--wait")
    if answer.returncode != 0 or out.read_text() != "a page":
        world.fail(f"the right name was not accepted: {answer.stdout} {answer.stderr}")
    out.unlink()
    answer = world.bgtask("transfer", serve(wrong) + "/page", "--to", str(out), "--wait")
    row = world.json("transfers")[-1]
    print(row["failure"])
    wanted = "no alternative certificate subject name matches"
    if answer.returncode != 1 or row["outcome"] != "failed" or row["attempts"] != 1 or out.exists():
        world.fail(f"the wrong name led to {row}")
    if wanted not in row["failure"]["message"] or "127.0.0.1" not in row["failure"]["message"]:
        world.fail(f"the message is {row['failure']['message']}")
