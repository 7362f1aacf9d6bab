package main

import (
	"bufio"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	lua "github.com/yuin/gopher-lua"
)

// A server holds what its clients share.
type server struct {
	// Locked for writing while a script runs, so that no other client's command runs in the middle of it.
	world sync.RWMutex
	// The scripts that clients may call, and all compiled scripts, by SHA-1.
	known    map[string]bool
	programs map[string]*lua.FunctionProto
	engine   *engine
	monitors int32
}

func newServer() *server {
	return &server{known: map[string]bool{}, programs: map[string]*lua.FunctionProto{}, engine: newEngine()}
}

// A client has its own connection to the real server, which holds its user, its database and its state.
type client struct {
	server  *server
	conn    net.Conn
	in      *bufio.Reader
	backend net.Conn
	replies chan []byte
	// 1 if everything that the real server sends goes straight to the client.
	streams int32
	// 3 after HELLO 3.
	protocol byte
	// For MULTI: the queued commands, and whether a script or an error is among them.
	multi, hasScript, broken bool
	queue                    [][][]byte
}

func newClient(server *server, conn, backend net.Conn) *client {
	return &client{
		server: server, conn: conn, in: bufio.NewReaderSize(conn, 1<<16), backend: backend,
		replies: make(chan []byte), protocol: '2',
	}
}

// serve ends when either side ends.
func (c *client) serve() {
	go c.readReplies()
	defer c.close()
	for {
		args, err := readCommand(c.in)
		if err == errProtocol {
			c.conn.Write(encodeLine('-', "ERR Protocol error"))
		}
		if err != nil {
			return
		}
		name := nameOf(args)
		if streaming[name] {
			c.stream(name, args)
			return
		}
		frame, ok := c.run(name, args)
		if !ok {
			return
		}
		if _, err := c.conn.Write(frame); err != nil {
			return
		}
	}
}

func (c *client) close() {
	c.conn.Close()
	c.backend.Close()
	// Reads the remaining replies of readReplies, so that it can end.
	for range c.replies {
	}
}

func (c *client) readReplies() {
	defer close(c.replies)
	defer c.conn.Close()
	in := bufio.NewReaderSize(c.backend, 1<<16)
	for {
		if _, err := in.Peek(1); err != nil {
			return
		}
		if atomic.LoadInt32(&c.streams) == 1 {
			io.Copy(c.conn, in)
			return
		}
		frame, err := readFrame(in, nil)
		if err != nil {
			return
		}
		c.replies <- frame
	}
}

// ask sends a command to the real server and waits for its reply; false if the connection has ended.
func (c *client) ask(args [][]byte) ([]byte, bool) {
	if _, err := c.backend.Write(encodeCommand(args)); err != nil {
		return nil, false
	}
	frame, ok := <-c.replies
	return frame, ok
}

// run runs a command by itself, or queues it.
func (c *client) run(name string, args [][]byte) ([]byte, bool) {
	switch {
	case c.multi && (name == "EXEC" || name == "DISCARD" || name == "RESET"):
		return c.endMulti(name, args)
	case c.multi && isScript(name):
		c.queue, c.hasScript = append(c.queue, args), true
		return encodeLine('+', "QUEUED"), true
	case c.multi:
		frame, ok := c.ask(args)
		c.queue, c.broken = append(c.queue, args), c.broken || isError(frame)
		return frame, ok
	case name == "MULTI":
		frame, ok := c.ask(args)
		c.multi = !isError(frame)
		return frame, ok
	case isScript(name):
		c.server.world.Lock()
		defer c.server.world.Unlock()
		return c.script(name, args)
	case blocking[name]:
		return c.ask(args)
	}
	c.server.world.RLock()
	defer c.server.world.RUnlock()
	frame, ok := c.ask(args)
	if name == "HELLO" && len(args) > 1 && !isError(frame) {
		c.protocol = args[1][0]
	}
	return frame, ok
}

// endMulti ends a transaction. The real server runs it, unless it has scripts.
func (c *client) endMulti(name string, args [][]byte) ([]byte, bool) {
	queue, byHand := c.queue, c.hasScript && !c.broken && name == "EXEC"
	c.multi, c.hasScript, c.broken, c.queue = false, false, false, nil
	c.server.world.Lock()
	defer c.server.world.Unlock()
	if !byHand {
		return c.ask(args)
	}
	if frame, ok := c.ask(words("DISCARD")); !ok || isError(frame) {
		return frame, ok
	}
	frames := encodeHead('*', len(queue))
	for _, queued := range queue {
		run := c.ask
		if name := nameOf(queued); isScript(name) {
			run = func(args [][]byte) ([]byte, bool) { return c.script(name, args) }
		}
		frame, ok := run(queued)
		if !ok {
			return nil, false
		}
		frames = append(frames, frame...)
	}
	return frames, true
}

// stream passes on messages that the real server sends unasked: subscriptions, MONITOR, replication.
func (c *client) stream(name string, args [][]byte) {
	if name == "MONITOR" {
		atomic.AddInt32(&c.server.monitors, 1)
		defer atomic.AddInt32(&c.server.monitors, -1)
	}
	atomic.StoreInt32(&c.streams, 1)
	for {
		if isScript(name) {
			// It would run on the real server's Lua, unnoticed.
			return
		}
		if _, err := c.backend.Write(encodeCommand(args)); err != nil {
			return
		}
		if name == "PSYNC" || name == "SYNC" {
			io.Copy(c.backend, c.in)
			return
		}
		var err error
		if args, err = readCommand(c.in); err != nil {
			return
		}
		name = nameOf(args)
	}
}

func nameOf(args [][]byte) string {
	return strings.ToUpper(string(args[0]))
}

func isError(frame []byte) bool {
	return len(frame) > 0 && frame[0] == '-'
}
