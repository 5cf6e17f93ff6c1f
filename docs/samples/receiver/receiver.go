package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var keys [][]byte
var idPattern = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// verify returns an error unless Emissor signed the request within the last five minutes.
func verify(id, timestamp, signatures string, body []byte, now int64) error {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	switch {
	case !idPattern.MatchString(id):
		return errors.New("webhook-id is missing or malformed")
	case err != nil:
		return errors.New("webhook-timestamp is missing or malformed")
	case seconds < now-300 || seconds > now+300:
		return errors.New("webhook-timestamp differs from this clock by more than 300 seconds")
	case signatures == "":
		return errors.New("webhook-signature is missing")
	}
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
		expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		for _, signature := range strings.Split(signatures, " ") {
			if hmac.Equal(expected, []byte(signature)) { // in constant time
				return nil
			}
		}
	}
	return errors.New("no signature matches: check that SEGREDO contains the segredo of this webhook")
}

func receive(request *http.Request) (int, error) {
	body, err := io.ReadAll(io.LimitReader(request.Body, 65_537)) // the bytes as they arrived
	if err != nil {
		return 500, err
	}
	if len(body) > 65_536 {
		return 413, errors.New("the body is larger than 64 KiB")
	}
	header := request.Header
	id := header.Get("webhook-id")
	err = verify(id, header.Get("webhook-timestamp"), header.Get("webhook-signature"), body, time.Now().Unix())
	if err != nil {
		return 400, err
	}
	// Stores each webhook-id once. In your system, use an INSERT with a unique key.
	name := "events/" + id + ".json"
	if _, err := os.Stat(name); err == nil {
		return 204, nil
	}
	file, err := os.CreateTemp("events", "new")
	if err != nil {
		return 500, err
	}
	_, err = file.Write(body)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(file.Name(), name) // only complete files have this name
	}
	if err != nil {
		return 500, err // the event is not stored, so Emissor will retry
	}
	fmt.Println(id, string(body))
	return 204, nil
}

func main() {
	// Decodes the 32 bytes after whsec_. Fails without a secret, because anyone can sign with an empty key.
	for _, secret := range strings.Split(os.Getenv("SEGREDO"), " ") {
		text, hasPrefix := strings.CutPrefix(secret, "whsec_")
		key, err := base64.StdEncoding.DecodeString(text)
		if err != nil || !hasPrefix || len(key) != 32 {
			log.Fatal("Put the segredo of each webhook (whsec_...) into SEGREDO, separated by one space.")
		}
		keys = append(keys, key)
	}
	os.MkdirAll("events", 0700)
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		status, err := receive(request)
		if err != nil {
			log.Printf("%d: %v", status, err)
		}
		response.WriteHeader(status)
	})
	server := http.Server{Addr: "127.0.0.1:8080", ReadTimeout: 15 * time.Second, IdleTimeout: time.Minute}
	log.Fatal(server.ListenAndServe())
}
