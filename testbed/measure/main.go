// Command measure runs a command to its end, with its output thrown away, and says as one line of JSON how long it took
// and how much memory it held at most, as the kernel counted it for this one process (wait4).
//
//	measure CMD [ARGUMENT…]
//
// A process begins as a copy of its parent, so a small parent is needed: what it holds itself counts as the child's least.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

type figures struct {
	Seconds float64 `json:"seconds"`
	User    float64 `json:"user"`
	System  float64 `json:"system"`
	// PeakBytes is the largest resident set.
	PeakBytes int64 `json:"peak_bytes"`
	Status    int   `json:"status"`
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: measure CMD [ARGUMENT…]")
		os.Exit(2)
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stderr = os.Stderr
	begun := time.Now()
	err := cmd.Run()
	took := time.Since(begun)
	state := cmd.ProcessState
	if state == nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(2)
	}
	usage := state.SysUsage().(*syscall.Rusage)
	_ = json.NewEncoder(os.Stdout).Encode(figures{
		Seconds: took.Seconds(), User: state.UserTime().Seconds(), System: state.SystemTime().Seconds(),
		PeakBytes: usage.Maxrss << 10, Status: state.ExitCode(),
	})
}
