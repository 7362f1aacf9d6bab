// A redis-server whose scripts run on GopherLua, a Lua 5.1 written in Go, instead of Redis's own C Lua.
//
// It takes the arguments of redis-server. This process becomes the real redis-server, on a Unix socket, so
// its process id, log and exit are those that a test expects. A child process listens on the port, passes
// commands on, and runs scripts; see client.go, scripts.go and engine.go. The child ends with its parent.
package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

const (
	// The path of the real redis-server.
	realServer = "SLUICE_REAL_REDIS_SERVER"
	// Set in the child: the Unix socket of the real server.
	socketOfParent = "SLUICE_PORTABLE_SOCKET"
	// How long to wait for the port: after a SIGKILL the kernel has to end the old child first.
	portDeadline = 2 * time.Second
)

func init() {
	// The kernel ends the child with the thread that started it. That must be the one that becomes redis-server.
	runtime.LockOSThread()
}

func main() {
	if socket := os.Getenv(socketOfParent); socket != "" {
		listener, err := net.FileListener(os.NewFile(3, "listener"))
		check(err)
		serve(listener, socket)
		return
	}
	real := os.Getenv(realServer)
	if real == "" {
		check(fmt.Errorf("%s must name the real redis-server", realServer))
	}
	args := append([]string{"redis-server"}, os.Args[1:]...)
	port := option("--port")
	if port != "" {
		folder := option("--dir")
		if folder == "" {
			folder = os.TempDir()
		}
		socket := filepath.Join(folder, fmt.Sprintf("portable-%d.sock", os.Getpid()))
		startProxy(net.JoinHostPort(option("--bind"), port), socket)
		args = append(args, "--port", "0", "--unixsocket", socket)
	}
	check(syscall.Exec(real, args, os.Environ()))
}

// option returns the last value of an argument of redis-server; empty if it is not given.
func option(name string) string {
	value := ""
	for i := 1; i < len(os.Args)-1; i++ {
		if os.Args[i] == name {
			value = os.Args[i+1]
		}
	}
	return value
}

// startProxy listens on the address and starts a child that serves it.
func startProxy(address, socket string) {
	listener, err := net.Listen("tcp", address)
	for begin := time.Now(); err != nil && time.Since(begin) < portDeadline; {
		time.Sleep(10 * time.Millisecond)
		listener, err = net.Listen("tcp", address)
	}
	if err != nil {
		// In the words of redis-server, which tests expect.
		check(fmt.Errorf("could not listen on %s: %s", address, strings.Replace(err.Error(), "address", "Address", 1)))
	}
	file, err := listener.(*net.TCPListener).File()
	check(err)
	self, err := os.Executable()
	check(err)
	proxy := exec.Command(self)
	proxy.Args = []string{"redis-on-gopher-lua"}
	proxy.Env = append(os.Environ(), socketOfParent+"="+socket)
	proxy.Stderr = os.Stderr
	proxy.ExtraFiles = []*os.File{file}
	proxy.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	check(proxy.Start())
}

func serve(listener net.Listener, socket string) {
	// Scripts make much garbage and keep nothing: collect it less often.
	debug.SetGCPercent(1000)
	server := newServer()
	for {
		conn, err := listener.Accept()
		check(err)
		go func() {
			backend, err := dial(socket)
			if err != nil {
				conn.Close()
				return
			}
			newClient(server, conn, backend).serve()
		}()
	}
}

// dial connects to the real server; waits up to 10 s for it to start.
func dial(socket string) (net.Conn, error) {
	conn, err := net.Dial("unix", socket)
	for begin := time.Now(); err != nil && time.Since(begin) < 10*time.Second; {
		time.Sleep(5 * time.Millisecond)
		conn, err = net.Dial("unix", socket)
	}
	return conn, err
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "redis-server on GopherLua:", err)
		os.Exit(1)
	}
}
