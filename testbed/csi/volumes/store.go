// Package volumes keeps the volumes and snapshots of the test bed's CSI driver: each is a directory, with a record in JSON
// beside it that is written last, so that what has no record does not exist.
package volumes

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"
)

// Kind is the sort of a directory: a volume or a snapshot.
type Kind string

const (
	Volume   Kind = "volumes"
	Snapshot Kind = "snapshots"
)

// Record is what is known of a volume or a snapshot.
type Record struct {
	ID   string
	Name string
	// Source is what it was copied from: a snapshot or a volume for a volume, a volume for a snapshot; empty for a new volume.
	Source  string
	Size    int64
	Created time.Time
	Odd     Oddities
}

// Oddities are how a snapshot differs from that of a driver that works.
type Oddities struct {
	ReadyAt    time.Time
	NeverReady bool
	NoSize     bool
}

// Ready says whether a snapshot may be restored at this time.
func (r *Record) Ready(now time.Time) bool {
	return !r.Odd.NeverReady && !now.Before(r.Odd.ReadyAt)
}

// Store is a folder of volumes and snapshots.
type Store struct {
	root   string
	writes Writers
	lock   sync.Mutex
}

// ErrInUse tells that a name is taken by something that was made otherwise.
var ErrInUse = errors.New("the name is taken by something made otherwise")

// Open makes the folder and drops what an interrupted copy left.
func Open(root string, writers Writers) (*Store, error) {
	for _, kind := range []Kind{Volume, Snapshot} {
		if err := os.MkdirAll(filepath.Join(root, string(kind)), 0o755); err != nil {
			return nil, err
		}
		halves, _ := filepath.Glob(filepath.Join(root, string(kind), "*.half"))
		for _, half := range halves {
			if err := os.RemoveAll(half); err != nil {
				return nil, err
			}
		}
	}
	return &Store{root: root, writes: writers}, nil
}

// Path is the directory of a volume or a snapshot.
func (s *Store) Path(kind Kind, id string) string { return filepath.Join(s.root, string(kind), id) }

// Find returns the record of an ID, or nil.
func (s *Store) Find(kind Kind, id string) *Record {
	if !plain(id) {
		return nil
	}
	text, err := os.ReadFile(s.Path(kind, id) + ".json")
	if err != nil {
		return nil
	}
	record := &Record{}
	if json.Unmarshal(text, record) != nil {
		return nil
	}
	return record
}

// All returns every record of a kind, in order of their IDs.
func (s *Store) All(kind Kind) []*Record {
	files, _ := filepath.Glob(filepath.Join(s.root, string(kind), "*.json"))
	sort.Strings(files)
	var all []*Record
	for _, file := range files {
		if record := s.Find(kind, strings.TrimSuffix(filepath.Base(file), ".json")); record != nil {
			all = append(all, record)
		}
	}
	return all
}

// Make returns the record of that name, copied from `from` if it is new. Where one of that name exists, `same` decides whether
// it is the one that is wanted.
func (s *Store) Make(kind Kind, wanted Record, from string, same func(*Record) bool) (*Record, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, record := range s.All(kind) {
		if record.Name != wanted.Name {
			continue
		}
		if !same(record) {
			return nil, ErrInUse
		}
		return record, nil
	}
	wanted.ID = freshID(kind)
	if err := s.fill(kind, wanted.ID, from); err != nil {
		return nil, err
	}
	text, err := json.Marshal(&wanted)
	if err != nil {
		return nil, err
	}
	half := s.Path(kind, wanted.ID) + ".json.half"
	if err := os.WriteFile(half, text, 0o600); err != nil {
		return nil, err
	}
	return &wanted, os.Rename(half, s.Path(kind, wanted.ID)+".json")
}

// Remove deletes a volume or a snapshot; one that is not there is removed already.
func (s *Store) Remove(kind Kind, id string) error {
	if !plain(id) {
		return nil
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if err := os.Remove(s.Path(kind, id) + ".json"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.RemoveAll(s.Path(kind, id))
}

// fill makes the directory under its half name, and gives it the right one when it is whole.
func (s *Store) fill(kind Kind, id, from string) error {
	path := s.Path(kind, id)
	half := path + ".half"
	if err := os.Mkdir(half, 0o777); err != nil {
		return err
	}
	// The process's umask has taken bits away; a pod of any user writes into its volume.
	err := os.Chmod(half, 0o777)
	if err == nil && from != "" {
		err = s.copyOf(from, half)
	}
	if err == nil {
		err = os.Rename(half, path)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(half))
	}
	return nil
}

// plain says whether an ID may be part of a path.
func plain(id string) bool {
	return id != "" && len(id) <= 128 && !strings.ContainsAny(id, "/\x00") && !strings.HasPrefix(id, ".")
}

func freshID(kind Kind) string {
	bytes := make([]byte, 8)
	// It never fails, says its documentation.
	_, _ = rand.Read(bytes)
	return fmt.Sprintf("%c-%s", kind[0], hex.EncodeToString(bytes))
}
