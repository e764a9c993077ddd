# archive_proxy.py LISTEN ENGINE FOLDER: an engine's socket, through which files
# of a container at /hostile/NAME come as FOLDER/NAME.tar, all else as it is.
import os, re, socket, sys, threading

listen, engine, folder = sys.argv[1:]


def head_of(stream):
    lines = [stream.readline()]
    while lines[-1] not in (b"\r\n", b""):
        lines.append(stream.readline())
    return lines


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(client):
    stream = client.makefile("rb", buffering=0)
    head = head_of(stream)
    wanted = re.match(rb"GET \S*/archive\?path=(%2F|/)hostile(?:%2F|/)([\w-]+)", head[0])
    if wanted:
        with open(f"{folder}/{wanted[2].decode()}.tar", "rb") as tar:
            size = os.fstat(tar.fileno()).st_size
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-tar\r\n"
                           b"Connection: close\r\nContent-Length: %d\r\n\r\n" % size)
            client.sendfile(tar)
        client.close()
        return
    there = socket.socket(socket.AF_UNIX)
    there.connect(engine)
    keep = b"".join(line for line in head).lower()
    if b"upgrade" not in keep:
        head.insert(1, b"Connection: close\r\n")
    there.sendall(b"".join(head))
    threading.Thread(target=pump, args=(client, there), daemon=True).start()
    pump(there, client)
    client.close()


server = socket.socket(socket.AF_UNIX)
server.bind(listen)
server.listen(64)
print("ready", flush=True)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
