package volumes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Writers finds the pods that use a volume, and stops them for as long as it is copied.
type Writers struct {
	// Cgroups are the folders below which the kubelet keeps a cgroup for each pod: one of the freezer hierarchy of version 1,
	// or one of version 2. Empty: nothing is stopped.
	Cgroups string
}

// Still are the pods that stand still.
type Still struct{ cgroups []cgroup }

// A pod's publish target is `…/pods/UID/volumes/…`.
var podOfTarget = regexp.MustCompile(`/pods/([0-9a-f-]{36})/volumes/`)

// How long a cgroup may take to come to rest: a process in an uninterruptible read has to finish it.
const restLimit = 10 * time.Second

// Pods is how many stand still.
func (s Still) Pods() int { return len(s.cgroups) }

// Stop brings every pod that has the directory mounted to rest.
func (w Writers) Stop(directory string) (Still, error) {
	still := Still{}
	if w.Cgroups == "" {
		return still, nil
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return still, err
	}
	for _, uid := range podsOf(string(mounts), directory) {
		for _, found := range w.cgroupsOf(uid) {
			if err := found.stop(); err != nil {
				return still, errors.Join(err, found.resume(), still.Resume())
			}
			still.cgroups = append(still.cgroups, found)
		}
	}
	return still, nil
}

// Resume lets the pods run on.
func (s Still) Resume() error {
	var errs []error
	for _, each := range s.cgroups {
		errs = append(errs, each.resume())
	}
	return errors.Join(errs...)
}

// podsOf reads from a mountinfo which pods have a directory mounted. A bind mount names the path of its root within its own
// file system, which is the end of the directory's path.
func podsOf(mountinfo, directory string) []string {
	seen := map[string]bool{}
	var pods []string
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		if len(fields) < 5 || fields[3] == "/" || !strings.HasSuffix(directory, fields[3]) {
			continue
		}
		if uid := podOfTarget.FindStringSubmatch(fields[4]); uid != nil && !seen[uid[1]] {
			seen[uid[1]] = true
			pods = append(pods, uid[1])
		}
	}
	return pods
}

// cgroupsOf finds a pod's cgroup, whose place depends on its quality of service.
func (w Writers) cgroupsOf(uid string) []cgroup {
	var found []cgroup
	for _, class := range []string{"", "burstable", "besteffort"} {
		path := filepath.Join(w.Cgroups, class, "pod"+uid)
		if _, err := os.Stat(path); err == nil {
			found = append(found, cgroup(path))
		}
	}
	return found
}

// cgroup is the folder of one, of either version.
type cgroup string

func (c cgroup) stop() error {
	if c.second() {
		return c.set("cgroup.freeze", "1", "cgroup.events", "frozen 1")
	}
	return c.set("freezer.state", "FROZEN", "freezer.state", "FROZEN")
}

func (c cgroup) resume() error {
	err := os.WriteFile(filepath.Join(string(c), "freezer.state"), []byte("THAWED"), 0)
	if c.second() {
		err = os.WriteFile(filepath.Join(string(c), "cgroup.freeze"), []byte("0"), 0)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil // the pod has ended meanwhile
	}
	return err
}

func (c cgroup) second() bool {
	_, err := os.Stat(filepath.Join(string(c), "cgroup.freeze"))
	return err == nil
}

// set writes a value and waits until another file says that it came true.
func (c cgroup) set(file, value, answer, expected string) error {
	end := time.Now().Add(restLimit)
	for {
		// Written again each time: a version 1 freezer that stays FREEZING takes the next try.
		if err := os.WriteFile(filepath.Join(string(c), file), []byte(value), 0); err != nil {
			return err
		}
		text, err := os.ReadFile(filepath.Join(string(c), answer))
		if err != nil {
			return err
		}
		if strings.Contains(string(text), expected) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s does not come to rest within %s", c, restLimit)
		}
		time.Sleep(time.Millisecond)
	}
}
