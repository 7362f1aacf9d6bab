package main

import (
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
	// The compiled scripts, by SHA-1.
	programs map[string]*lua.FunctionProto
}

// The name of the script in errors.
const chunkName = "user_script"

func newEngine() *engine {
	e := &engine{programs: map[string]*lua.FunctionProto{}}
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

// load compiles a script. Returns why it is not valid Lua, or nil.
func (e *engine) load(sha string, text []byte) lua.LValue {
	chunk, err := parse.Parse(strings.NewReader(string(text)), chunkName)
	if err == nil {
		e.programs[sha], err = lua.Compile(chunk, chunkName)
	}
	if err != nil {
		return lua.LString(err.Error())
	}
	return lua.LNil
}

// run runs a script. Returns a list of its reply, or of the error that ended it and the line.
func (e *engine) run(sha string, keys, args [][]byte) lua.LValue {
	e.globals().RawSetString("KEYS", e.list(keys))
	e.globals().RawSetString("ARGV", e.list(args))
	e.state.Push(&lua.LFunction{Env: e.globals(), Proto: e.programs[sha]})
	result := e.state.NewTable()
	if err := e.state.PCall(0, 1, nil); err != nil {
		text, line := errorText(err)
		result.Append(lua.LString(text))
		result.Append(lua.LString(line))
		e.reset()
		return result
	}
	// A list ends at nil.
	if reply := e.state.Get(-1); reply == lua.LNil {
		result.Append(lua.LFalse)
	} else {
		result.Append(reply)
	}
	e.state.Pop(1)
	return result
}

func (e *engine) list(texts [][]byte) *lua.LTable {
	list := e.state.CreateTable(len(texts), 0)
	for _, text := range texts {
		list.Append(lua.LString(text))
	}
	return list
}

var place = regexp.MustCompile(`(?s)^` + chunkName + `:(\d+): ?(.*)$`)

// errorText is the error of a script that failed, and its line.
func errorText(err error) (string, string) {
	failure, ok := err.(*lua.ApiError)
	if !ok {
		return "ERR " + err.Error(), ""
	}
	if table, ok := failure.Object.(*lua.LTable); ok {
		text := lua.LVAsString(table.RawGetString("err"))
		if text == "" {
			text = "ERR unknown error"
		}
		return text, lua.LVAsString(table.RawGetString("line"))
	}
	text := failure.Object.String()
	if found := place.FindStringSubmatch(text); found != nil {
		return fmt.Sprintf("ERR %s:%s: %s", chunkName, found[1], found[2]), found[1]
	}
	return "ERR " + text, ""
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
	var value lua.LValue = single(l, "err", wrong)
	if wrong == "" {
		value = ask(l, args)
	}
	if table, ok := value.(*lua.LTable); ok && table.RawGetString("err") != lua.LNil {
		if found := place.FindStringSubmatch(l.Where(1)); found != nil {
			table.RawSetString("source", lua.LString("@"+chunkName))
			table.RawSetString("line", lua.LString(found[1]))
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
