package main

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// An engine runs scripts on GopherLua, one at a time, as Redis runs them on its Lua.
type engine struct {
	state *lua.LState
	// The script that runs.
	current *run
}

// The name of the script in errors.
const chunkName = "user_script"

func newEngine() *engine {
	e := &engine{}
	e.reset()
	return e
}

// reset makes a fresh state.
func (e *engine) reset() {
	e.state = lua.NewState(lua.Options{CallStackSize: 1024, RegistrySize: 1 << 17, SkipOpenLibs: true})
	libraries := map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString,
		lua.MathLibName: lua.OpenMath,
	}
	for name, open := range libraries {
		e.state.Push(e.state.NewFunction(open))
		e.state.Push(lua.LString(name))
		e.state.Call(1, 0)
	}
	globals := e.globals()
	for _, name := range []string{"print", "dofile", "loadfile", "require", "module"} {
		globals.RawSetString(name, lua.LNil)
	}
	globals.RawSetString("redis", e.state.SetFuncs(e.state.NewTable(), map[string]lua.LGFunction{
		"call":         func(*lua.LState) int { return e.call(true) },
		"pcall":        func(*lua.LState) int { return e.call(false) },
		"error_reply":  errorReply,
		"status_reply": statusReply,
		"sha1hex":      sha1hex,
	}))
	strict := e.state.NewTable()
	strict.RawSetString("__newindex", e.state.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Attempt to modify a readonly table")
		return 0
	}))
	strict.RawSetString("__index", e.state.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.ToString(2))
		return 0
	}))
	globals.Metatable = strict
}

func (e *engine) globals() *lua.LTable {
	return e.state.Get(lua.GlobalsIndex).(*lua.LTable)
}

func compile(text []byte) (*lua.FunctionProto, error) {
	if bytes.HasPrefix(text, []byte("#!")) {
		// It becomes a comment, so that line numbers are kept.
		text = append([]byte("--"), text...)
	}
	chunk, err := parse.Parse(bytes.NewReader(text), chunkName)
	if err != nil {
		return nil, err
	}
	return lua.Compile(chunk, chunkName)
}

// run runs a script and returns its reply.
func (e *engine) run(current *run, program *lua.FunctionProto, keys, args [][]byte) []byte {
	e.current = current
	e.globals().RawSetString("KEYS", e.list(keys))
	e.globals().RawSetString("ARGV", e.list(args))
	e.state.Push(&lua.LFunction{Env: e.globals(), Proto: program})
	if err := e.state.PCall(0, 1, nil); err != nil {
		e.reset()
		return encodeLine('-', errorText(err, current.sha))
	}
	result := e.state.Get(-1)
	e.state.Pop(1)
	return encodeResult(result, current.client.protocol)
}

func (e *engine) list(texts [][]byte) *lua.LTable {
	list := e.state.CreateTable(len(texts), 0)
	for _, text := range texts {
		list.Append(lua.LString(text))
	}
	return list
}

var place = regexp.MustCompile(`(?s)^` + chunkName + `:(\d+): ?(.*)$`)

// errorText is Redis's error reply for a script that failed.
func errorText(err error, sha string) string {
	failure, ok := err.(*lua.ApiError)
	if !ok {
		return "ERR " + err.Error()
	}
	text, line := failure.Object.String(), ""
	if table, ok := failure.Object.(*lua.LTable); ok {
		text = lua.LVAsString(table.RawGetString("err"))
		line = lua.LVAsString(table.RawGetString("line"))
		if text == "" {
			text = "ERR unknown error"
		}
	} else if found := place.FindStringSubmatch(text); found != nil {
		text, line = fmt.Sprintf("ERR %s:%s: %s", chunkName, found[1], found[2]), found[1]
	} else {
		text = "ERR " + text
	}
	if line == "" {
		return text
	}
	return fmt.Sprintf("%s script: %s, on @%s:%s.", text, sha, chunkName, line)
}

// call is redis.call, which raises an error, or redis.pcall, which returns it.
func (e *engine) call(raises bool) int {
	l := e.state
	args := make([][]byte, l.GetTop())
	wrong := ""
	for i := range args {
		switch arg := l.Get(i + 1).(type) {
		case lua.LString:
			args[i] = []byte(arg)
		case lua.LNumber:
			args[i] = []byte(numberText(float64(arg)))
		default:
			wrong = "ERR Lua redis lib command arguments must be strings or integers"
		}
	}
	if len(args) == 0 {
		wrong = "ERR Please specify at least one argument for this redis.call() call"
	}
	answer := reply{kind: '-', text: []byte(wrong)}
	if wrong == "" {
		answer = e.current.call(args)
	}
	value := e.value(answer)
	if answer.kind == '-' {
		if found := place.FindStringSubmatch(l.Where(1)); found != nil {
			value.(*lua.LTable).RawSetString("source", lua.LString("@"+chunkName))
			value.(*lua.LTable).RawSetString("line", lua.LString(found[1]))
		}
		if raises {
			l.Error(value, 0)
		}
	}
	l.Push(value)
	return 1
}

func numberText(number float64) string {
	if number == math.Trunc(number) && math.Abs(number) < 1<<62 {
		return strconv.FormatInt(int64(number), 10)
	}
	return strconv.FormatFloat(number, 'g', 17, 64)
}

// value converts a reply to a Lua value.
func (e *engine) value(answer reply) lua.LValue {
	switch {
	case answer.null:
		return lua.LFalse
	case answer.kind == ':':
		number, _ := strconv.ParseInt(string(answer.text), 10, 64)
		return lua.LNumber(number)
	case answer.kind == '+':
		return single(e.state, "ok", string(answer.text))
	case answer.kind == '-':
		return single(e.state, "err", string(answer.text))
	case answer.kind == '*':
		list := e.state.CreateTable(len(answer.items), 0)
		for _, item := range answer.items {
			list.Append(e.value(item))
		}
		return list
	}
	return lua.LString(answer.text)
}

// encodeResult converts what a script returned to a reply.
func encodeResult(result lua.LValue, protocol byte) []byte {
	switch value := result.(type) {
	case lua.LString:
		return encodeBulk([]byte(value))
	case lua.LNumber:
		return encodeHead(':', int(value))
	case lua.LBool:
		if value {
			return encodeHead(':', 1)
		}
	case *lua.LTable:
		if text, ok := value.RawGetString("err").(lua.LString); ok {
			return encodeLine('-', string(text))
		}
		if text, ok := value.RawGetString("ok").(lua.LString); ok {
			return encodeLine('+', string(text))
		}
		var items []byte
		count := 0
		for item := value.RawGetInt(1); item != lua.LNil; item = value.RawGetInt(count + 1) {
			items, count = append(items, encodeResult(item, protocol)...), count+1
		}
		return append(encodeHead('*', count), items...)
	}
	if protocol == '3' {
		return []byte("_\r\n")
	}
	return encodeHead('$', -1)
}

func single(l *lua.LState, field, text string) *lua.LTable {
	table := l.NewTable()
	table.RawSetString(field, lua.LString(text))
	return table
}

func errorReply(l *lua.LState) int {
	text := strings.TrimPrefix(l.CheckString(1), "-")
	if !strings.Contains(text, " ") {
		text = "ERR " + text
	}
	l.Push(single(l, "err", text))
	return 1
}

func statusReply(l *lua.LState) int {
	l.Push(single(l, "ok", l.CheckString(1)))
	return 1
}

func sha1hex(l *lua.LState) int {
	sum := sha1.Sum([]byte(l.CheckString(1)))
	l.Push(lua.LString(hex.EncodeToString(sum[:])))
	return 1
}
