package volumes

import (
	"fmt"
	"log"
	"os/exec"
	"time"
)

// copyOf copies a directory as it is at one moment: every process that can write to it stands still meanwhile. With reflinks
// (XFS) that takes milliseconds; without them as long as reading the data does.
//
// The file system itself is not frozen: the copy is written to the same one.
func (s *Store) copyOf(from, into string) error {
	begun := time.Now()
	still, err := s.writes.Stop(from)
	if err != nil {
		return fmt.Errorf("stop the pods that write to %s: %w", from, err)
	}
	output, err := exec.Command("cp", "-a", "--reflink=auto", from+"/.", into).CombinedOutput()
	thawed := still.Resume()
	if err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, output)
	}
	if thawed != nil {
		return fmt.Errorf("resume the pods that write to %s: %w", from, thawed)
	}
	log.Printf("copied %s with %d pods standing still for %s", from, still.Pods(), time.Since(begun).Round(time.Millisecond))
	return nil
}
