package main

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"
)

// The real server gets this script in place of a client's, with the client's keys and arguments. So the real
// server decides who may run scripts, on which keys, and when.
const nothing = "return 0"

var nothingSha = shaOf([]byte(nothing))

// A command that a script calls goes to the real server as a plain command. If a script would get another
// answer than a client, it goes through one of these scripts, which only pass it on.
const (
	passOn     = "return redis.pcall(unpack(ARGV))"
	passOnFull = "#!lua flags=allow-oom\nreturn redis.pcall(unpack(ARGV))"
)

func shaOf(text []byte) string {
	sum := sha1.Sum(text)
	return hex.EncodeToString(sum[:])
}

// script runs EVAL, EVALSHA or SCRIPT. The caller holds the lock `world`.
func (c *client) script(name string, args [][]byte) ([]byte, bool) {
	if name == "SCRIPT" {
		return c.scriptCommand(args)
	}
	if len(args) < 3 {
		return c.ask(args)
	}
	bySha := strings.HasPrefix(name, "EVALSHA")
	sha := strings.ToLower(string(args[1]))
	if !bySha {
		sha = shaOf(args[1])
	}
	if bySha && !c.server.known[sha] {
		return c.ask(args)
	}
	if frame, ok := c.askForNothing(name, bySha, args[2:]); !ok || isError(frame) {
		return frame, ok
	}
	if !c.server.known[sha] {
		if frame, ok := c.learn(sha, args[1]); frame != nil || !ok {
			return frame, ok
		}
	}
	if c.protocol == '3' {
		// Commands in a script get replies of RESP2.
		c.ask(words("HELLO", "2"))
		defer c.ask(words("HELLO", "3"))
	}
	count, _ := strconv.Atoi(string(args[2]))
	run := &run{client: c, sha: sha, readOnly: strings.HasSuffix(name, "_RO")}
	frame := c.server.engine.run(run, c.server.programs[sha], args[3:3+count], args[3+count:])
	return frame, !run.lost
}

// askForNothing asks whether the real server would run a script now for this client, and returns its error if
// not.
func (c *client) askForNothing(name string, bySha bool, rest [][]byte) ([]byte, bool) {
	body := nothing
	if bySha {
		body = nothingSha
	}
	frame, ok := c.ask(append(words(name, body), rest...))
	if ok && bytes.HasPrefix(frame, []byte("-NOSCRIPT")) {
		if _, ok = c.ask(words("SCRIPT", "LOAD", nothing)); ok {
			frame, ok = c.ask(append(words(name, body), rest...))
		}
	}
	return frame, ok
}

// learn compiles a script and remembers it. Returns an error reply if it is invalid.
func (c *client) learn(sha string, text []byte) ([]byte, bool) {
	if bytes.HasPrefix(text, []byte("#!")) {
		// The real server checks the flags.
		if frame, ok := c.ask(append(words("SCRIPT", "LOAD"), text)); !ok || isError(frame) {
			return frame, ok
		}
	}
	if c.server.programs[sha] == nil {
		program, err := compile(text)
		if err != nil {
			return encodeLine('-', "ERR Error compiling script (new function): "+err.Error()), true
		}
		c.server.programs[sha] = program
	}
	c.server.known[sha] = true
	return nil, true
}

func (c *client) scriptCommand(args [][]byte) ([]byte, bool) {
	frame, ok := c.ask(args)
	if !ok || isError(frame) || len(args) < 2 {
		return frame, ok
	}
	switch strings.ToUpper(string(args[1])) {
	case "LOAD":
		if refused, ok := c.learn(shaOf(args[2]), args[2]); refused != nil || !ok {
			return refused, ok
		}
	case "FLUSH":
		c.server.known = map[string]bool{}
	case "EXISTS":
		frame = encodeHead('*', len(args)-2)
		for _, sha := range args[2:] {
			known := 0
			if c.server.known[strings.ToLower(string(sha))] {
				known = 1
			}
			frame = append(frame, encodeHead(':', known)...)
		}
	}
	return frame, true
}

// A run is one execution of a script.
type run struct {
	client   *client
	sha      string
	readOnly bool
	// After its first write a script may go on writing although Redis's memory is full.
	wrote bool
	lost  bool
}

// Errors of commands that are refused before they run. A script gets some of them in other words.
var refusals = []string{"-OOM ", "-NOPERM ", "-READONLY ", "-MISCONF ", "-NOREPLICAS ", "-ERR unknown command",
	"-ERR wrong number of arguments"}

// call runs a command for a script.
func (r *run) call(args [][]byte) reply {
	name := nameOf(args)
	var frame []byte
	switch {
	case r.readOnly:
		frame = r.ask("EVAL_RO", passOn, args)
	case notInScripts[name] || r.client.server.monitors > 0:
		frame = r.passOn(args)
	default:
		frame = r.ask("", "", args)
		for _, refusal := range refusals {
			if bytes.HasPrefix(frame, []byte(refusal)) {
				frame = r.passOn(args)
				break
			}
		}
	}
	refused := false
	for _, refusal := range refusals {
		refused = refused || bytes.HasPrefix(frame, []byte(refusal))
	}
	r.wrote = r.wrote || (writing[name] && !refused)
	return parseReply(frame)
}

func (r *run) passOn(args [][]byte) []byte {
	if r.wrote {
		return r.ask("EVAL", passOnFull, args)
	}
	return r.ask("EVAL", passOn, args)
}

// ask sends a command to the real server, through a script if one is given.
func (r *run) ask(eval, body string, args [][]byte) []byte {
	if eval != "" {
		args = append(words(eval, body, "0"), args...)
	}
	frame, ok := r.client.ask(args)
	if !ok {
		r.lost = true
		return encodeLine('-', "ERR the connection to the real server ended")
	}
	return frame
}
