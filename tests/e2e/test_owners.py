"""Whose a process is: names from a runtime's socket, arguments without secrets, and nothing that waits for them."""

import http.server
import os
import socketserver
import threading

from harness import Case, main, wait_until
from test_framework import CONTAINER, tree_with_us


class Docker(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """The one request of Docker's API that is made; with `hangs` it is never answered."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, folder, hangs=False):
        os.makedirs(os.path.join(folder, "run"))
        self.asked = []
        self.over = threading.Event()
        self.hangs = hangs
        super().__init__(os.path.join(folder, "run/docker.sock"), Answers)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.over.set()
        self.shutdown()
        self.server_close()


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        if self.server.hangs:
            self.server.over.wait()
            return
        body = (b'{"Id":"x","Name":"/notebook-ada","Config":{"Image":"jupyter:7","Labels":'
                b'{"io.kubernetes.pod.name":"ada-0","io.kubernetes.pod.namespace":"lab"}}}')
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *unused):
        pass


class Owners(Case):
    def docker(self, tree, **options):
        docker = Docker(tree.folder, **options)
        self.addCleanup(docker.stop)
        return docker

    def row(self, server, local=True):
        devices = [d for d in server.snapshot(local=local)["devices"] if d["vendor"] == "amd"]
        rows = [p for p in devices[0]["processes"] or [] if p["pid"] == os.getpid()]
        return rows[0] if rows else {}

    # FAULT-111
    def test_names_come_from_the_runtimes_socket(self):
        tree = tree_with_us(self)
        docker = self.docker(tree)
        tree.write(f"proc/{os.getpid()}/cmdline", "python3\0serve.py\0--api-key\0hunter2\0")
        server = self.daemon(root=tree.folder)
        wait_until(lambda: self.row(server).get("container") == "notebook-ada", within=20, what="the name")
        wait_until(lambda: self.row(server)["arguments"], within=20, what="the arguments")
        row = self.row(server)
        self.assertEqual((row["container_id"], row["image"], row["pod"], row["pod_namespace"]),
                         (CONTAINER, "jupyter:7", "ada-0", "lab"))
        self.assertEqual(row["arguments"], "python3 serve.py --api-key ***")
        self.assertEqual(docker.asked, [f"/containers/{CONTAINER}/json"])
        anonymous = server.get("/api/gpusight/v1/snapshot").text
        for word in ("hunter2", "serve.py", "notebook-ada", CONTAINER):
            self.assertNotIn(word, anonymous)

    def test_a_runtime_that_hangs_holds_up_no_tick(self):
        tree = tree_with_us(self)
        docker = self.docker(tree, hangs=True)
        server = self.daemon(root=tree.folder)
        wait_until(lambda: docker.asked, within=20, what="the question")
        # While it waits for the answer, rows come with what is known.
        wait_until(lambda: self.row(server).get("owner") == "known", within=20, what="the row")
        row = self.row(server)
        self.assertEqual((row["container"], row["image"], row["threads"]), (CONTAINER[:12], "", 7))
        wait_until(lambda: "/run/docker.sock: no answer in time" in server.log(), within=20, what="the log line")
        self.assertEqual(len(docker.asked), 1)

    def test_the_file_of_a_cluster_names_the_job(self):
        tree = tree_with_us(self)
        server = self.daemon(root=tree.folder)
        uuid = next(d["uuid"] for d in server.snapshot()["devices"] if d["vendor"] == "amd")
        tree.write(f"run/gpustat/{uuid}", f"4711 {os.getuid()}\n")
        wait_until(lambda: self.row(server).get("job") == "4711", within=20, what="the job")


if __name__ == "__main__":
    main()
