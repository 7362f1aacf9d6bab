package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

// The Redis serialization protocol: commands, and replies as they go over the wire ("frames").

var errProtocol = errors.New("not of the Redis protocol")

// readCommand reads a command, a list of bulk strings or a line of words.
func readCommand(in *bufio.Reader) ([][]byte, error) {
	for {
		line, err := readLine(in)
		if err != nil {
			return nil, err
		}
		if len(line) == 0 || line[0] != '*' {
			if words := bytes.Fields(line); len(words) > 0 {
				return words, nil
			}
			continue
		}
		count, err := strconv.Atoi(string(line[1:]))
		if err != nil {
			return nil, errProtocol
		}
		args := make([][]byte, 0, count)
		for i := 0; i < count; i++ {
			frame, err := readFrame(in, nil)
			if err != nil {
				return nil, err
			}
			arg := parseReply(frame)
			if arg.kind != '$' || arg.null {
				return nil, errProtocol
			}
			args = append(args, arg.text)
		}
		if count > 0 {
			return args, nil
		}
	}
}

func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// readFrame reads one reply with all nested replies, and appends it to the given bytes.
func readFrame(in *bufio.Reader, frame []byte) ([]byte, error) {
	start := len(frame)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	frame = append(frame, line...)
	head := bytes.TrimRight(frame[start:], "\r\n")
	if len(head) == 0 {
		return nil, errProtocol
	}
	switch head[0] {
	case '$', '=', '!':
		length, err := strconv.Atoi(string(head[1:]))
		if err != nil {
			return nil, errProtocol
		}
		if length < 0 {
			return frame, nil
		}
		at := len(frame)
		frame = append(frame, make([]byte, length+2)...)
		_, err = io.ReadFull(in, frame[at:])
		return frame, err
	case '*', '~', '>', '%':
		count, err := strconv.Atoi(string(head[1:]))
		if err != nil {
			return nil, errProtocol
		}
		if head[0] == '%' {
			count *= 2
		}
		for i := 0; i < count; i++ {
			if frame, err = readFrame(in, frame); err != nil {
				return nil, err
			}
		}
	}
	return frame, nil
}

// A reply of version 2 of the protocol.
type reply struct {
	kind  byte // + - : $ *
	text  []byte
	items []reply
	null  bool
}

func parseReply(frame []byte) reply {
	parsed, _ := parseNext(frame)
	return parsed
}

func parseNext(frame []byte) (reply, []byte) {
	end := bytes.IndexByte(frame, '\n')
	parsed := reply{kind: frame[0], text: bytes.TrimRight(frame[1:end], "\r")}
	rest := frame[end+1:]
	if parsed.kind != '$' && parsed.kind != '*' {
		return parsed, rest
	}
	count, _ := strconv.Atoi(string(parsed.text))
	if count < 0 {
		parsed.null = true
	} else if parsed.kind == '$' {
		parsed.text, rest = rest[:count], rest[count+2:]
	} else {
		parsed.items = make([]reply, count)
		for i := range parsed.items {
			parsed.items[i], rest = parseNext(rest)
		}
	}
	return parsed, rest
}

func encodeCommand(args [][]byte) []byte {
	frame := encodeHead('*', len(args))
	for _, arg := range args {
		frame = append(frame, encodeBulk(arg)...)
	}
	return frame
}

func encodeHead(kind byte, number int) []byte {
	return append(strconv.AppendInt([]byte{kind}, int64(number), 10), "\r\n"...)
}

func encodeBulk(text []byte) []byte {
	frame := append(encodeHead('$', len(text)), text...)
	return append(frame, "\r\n"...)
}

// encodeLine is a status or an error. Neither can have line breaks.
func encodeLine(kind byte, text string) []byte {
	clean := bytes.Map(func(letter rune) rune {
		if letter == '\r' || letter == '\n' {
			return ' '
		}
		return letter
	}, []byte(text))
	return append(append([]byte{kind}, clean...), "\r\n"...)
}

func words(texts ...string) [][]byte {
	args := make([][]byte, len(texts))
	for i, text := range texts {
		args[i] = []byte(text)
	}
	return args
}
