// Runs scripts on GopherLua, a Lua 5.1 written in Go, for the embedded store, whose gopher-lua.ts asks for it: each
// request on stdin is a list of words. A script may call commands; its last answer is the result. All numbers are
// little-endian.
package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"runtime/debug"
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

var (
	in  = bufio.NewReaderSize(os.Stdin, 1<<16)
	out = bufio.NewWriterSize(os.Stdout, 1<<16)
)

func main() {
	// Scripts make much garbage and keep nothing: collect it less often.
	debug.SetGCPercent(1000)
	engine := newEngine()
	for {
		words := readWords()
		var result lua.LValue = lua.LNil
		switch string(words[0]) {
		case "load":
			result = engine.load(string(words[1]), words[2])
		case "forget":
			engine.programs = map[string]*lua.FunctionProto{}
		case "run":
			keys, _ := strconv.Atoi(string(words[2]))
			result = engine.run(string(words[1]), words[3:3+keys], words[3+keys:])
		}
		send('R', encode(nil, result))
	}
}

// The tags of values, as src/embedded/lua/codec.ts has them.
const (
	tagNil byte = iota
	tagInteger
	tagBulk
	tagArray
	tagStatus
	tagError
)

// ask runs a command for a script, and returns its reply.
func ask(state *lua.LState, words [][]byte) lua.LValue {
	content := number(nil, len(words))
	for _, word := range words {
		content = append(number(content, len(word)), word...)
	}
	send('C', content)
	reply, _ := decode(state, read(size()))
	return reply
}

func send(kind byte, content []byte) {
	out.WriteByte(kind)
	out.Write(number(nil, len(content)))
	out.Write(content)
	out.Flush()
}

func readWords() [][]byte {
	words := make([][]byte, size())
	for i := range words {
		words[i] = read(size())
	}
	return words
}

func size() int {
	return int(binary.LittleEndian.Uint32(read(4)))
}

func read(length int) []byte {
	bytes := make([]byte, length)
	if _, err := io.ReadFull(in, bytes); err != nil {
		// The store has ended.
		os.Exit(0)
	}
	return bytes
}

func number(to []byte, value int) []byte {
	return binary.LittleEndian.AppendUint32(to, uint32(value))
}

// decode converts a reply to a Lua value, and returns what is behind it.
func decode(state *lua.LState, bytes []byte) (lua.LValue, []byte) {
	tag, length, rest := bytes[0], int(binary.LittleEndian.Uint32(bytes[1:])), bytes[5:]
	if tag == tagArray {
		list := state.CreateTable(length, 0)
		for i := 0; i < length; i++ {
			var item lua.LValue
			item, rest = decode(state, rest)
			list.Append(item)
		}
		return list, rest
	}
	text, rest := rest[:length], rest[length:]
	switch tag {
	case tagNil:
		return lua.LFalse, rest
	case tagInteger:
		return lua.LNumber(int64(binary.LittleEndian.Uint64(text))), rest
	case tagStatus:
		return single(state, "ok", string(text)), rest
	case tagError:
		return single(state, "err", string(text)), rest
	}
	return lua.LString(text), rest
}

// encode appends what a script returned, as Redis converts it to a reply.
func encode(to []byte, result lua.LValue) []byte {
	text := func(tag byte, text string) []byte {
		return append(number(append(to, tag), len(text)), text...)
	}
	integer := func(value int64) []byte {
		return binary.LittleEndian.AppendUint64(number(append(to, tagInteger), 8), uint64(value))
	}
	switch value := result.(type) {
	case lua.LString:
		return text(tagBulk, string(value))
	case lua.LNumber:
		return integer(int64(value))
	case lua.LBool:
		if value {
			return integer(1)
		}
	case *lua.LTable:
		if err, ok := value.RawGetString("err").(lua.LString); ok {
			return text(tagError, string(err))
		}
		if ok, is := value.RawGetString("ok").(lua.LString); is {
			return text(tagStatus, string(ok))
		}
		count := 0
		for value.RawGetInt(count+1) != lua.LNil {
			count++
		}
		to = number(append(to, tagArray), count)
		for i := 1; i <= count; i++ {
			to = encode(to, value.RawGetInt(i))
		}
		return to
	}
	return number(append(to, tagNil), 0)
}
