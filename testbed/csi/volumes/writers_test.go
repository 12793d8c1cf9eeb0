package volumes

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	first  = "0b1f9b0e-6f0c-4a52-8f3a-3b7f1c9f0001"
	second = "0b1f9b0e-6f0c-4a52-8f3a-3b7f1c9f0002"
)

func TestThePodsOfADirectoryAreReadFromTheMounts(t *testing.T) {
	mounts := strings.Join([]string{
		"90 1 7:0 / /bed/disk rw - xfs /dev/loop0 rw",
		"91 1 7:0 /volumes/v-1 /bed/kubelet/pods/" + first + "/volumes/kubernetes.io~csi/pvc/mount rw - xfs /dev/loop0 rw",
		"92 1 7:0 /volumes/v-1 /bed/kubelet/pods/" + first + "/volumes/kubernetes.io~csi/other/mount rw - xfs /dev/loop0 rw",
		"93 1 7:0 /volumes/v-2 /bed/kubelet/pods/" + second + "/volumes/kubernetes.io~csi/pvc/mount rw - xfs /dev/loop0 rw",
		"94 1 0:9 / /bed/kubelet/pods/" + second + "/volumes/kubernetes.io~projected/token rw - tmpfs tmpfs rw",
	}, "\n")
	if pods := podsOf(mounts, "/bed/disk/volumes/v-1"); !slices.Equal(pods, []string{first}) {
		t.Fatal(pods)
	}
	if pods := podsOf(mounts, "/bed/disk/volumes/v-3"); len(pods) != 0 {
		t.Fatal(pods)
	}
}

// A process that counts in a file stands still while its cgroup is stopped, and goes on after.
func TestAStoppedCgroupStandsStill(t *testing.T) {
	tree := "/sys/fs/cgroup/freezer"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		tree = "/sys/fs/cgroup"
	}
	group := filepath.Join(tree, "loopbreaker-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("no cgroup can be made here: %v", err)
	}
	file := filepath.Join(t.TempDir(), "count")
	count := exec.Command("sh", "-c", "while :; do echo >>"+file+"; done")
	if err := count.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cgroup(group).resume()
		_ = count.Process.Kill()
		_ = count.Wait()
		_ = os.Remove(group)
	})
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(count.Process.Pid)), 0); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(file)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	moves := func() bool {
		before := size()
		time.Sleep(100 * time.Millisecond)
		return size() != before
	}
	if !moves() {
		t.Fatal("it does not count")
	}
	if err := cgroup(group).stop(); err != nil {
		t.Fatal(err)
	}
	if moves() {
		t.Fatal("it counts on while it is stopped")
	}
	if err := cgroup(group).resume(); err != nil {
		t.Fatal(err)
	}
	if !moves() {
		t.Fatal("it does not go on")
	}
}
