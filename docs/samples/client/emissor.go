package emissor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var oneAtATime, client, file = new(sync.Mutex), &http.Client{Timeout: 8 * time.Second}, os.Getenv("TOKENS_FILE")

// Call calls the API; once more, with another token, where the stored one is refused.
func Call(method, path, body string) (status int, answer []byte, err error) {
	var token any
	for tries := 1; tries == 1 || (tries == 2 && status == 401); tries++ {
		if token, err = validToken(token); err != nil {
			return 0, nil, err
		}
		status, answer, err = patiently(func() (*http.Response, error) {
			request, _ := http.NewRequest(method, os.Getenv("BASE_URL")+path, strings.NewReader(body))
			request.Header = http.Header{"Authorization": {fmt.Sprint("Bearer ", token)}, "Content-Type": {"application/json"}}
			return client.Do(request)
		})
	}
	return status, answer, err
}

// validToken returns the stored token unless it was refused. One other is asked for, however many goroutines wait for it.
func validToken(refused any) (any, error) {
	oneAtATime.Lock()
	defer oneAtATime.Unlock()
	stored, fresh := map[string]any{}, map[string]any{"error": "invalid_grant"}
	text, _ := os.ReadFile(file) // there is none before the first login
	json.Unmarshal(text, &stored)
	if until, _ := stored["refused_until"].(float64); time.Now().Unix() < int64(until) {
		return nil, errors.New("the login was refused: mend the password and delete " + file)
	}
	if stored["access_token"] != refused {
		return stored["access_token"], nil
	}
	if stored["refresh_token"] != nil {
		fresh = grant(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {fmt.Sprint(stored["refresh_token"])}})
	}
	if fresh["error"] == "invalid_grant" { // the session is over: one login, and no loop
		fresh = grant(url.Values{"grant_type": {"password"}, "username": {os.Getenv("USER_EMAIL")}, "password": {os.Getenv("USER_PASSWORD")}})
	}
	if fresh["error"] == "invalid_grant" {
		return nil, errors.Join(errors.New("there is no token: invalid_grant"), store(map[string]any{"refused_until": time.Now().Unix() + 900}))
	}
	if fresh["access_token"] == nil {
		return nil, fmt.Errorf("there is no token: %v", fresh["error"])
	}
	return fresh["access_token"], store(fresh) // before anybody uses it
}

func store(content map[string]any) error {
	text, _ := json.Marshal(content)
	next := fmt.Sprint(file, ".", os.Getpid()) // a file that is not whole never has the name
	if err := os.WriteFile(next, text, 0600); err != nil {
		return err
	}
	return os.Rename(next, file)
}

// grant repeats a request that failed or whose answer was lost: for 30 seconds a refresh token yields the same successor.
func grant(form url.Values) (fresh map[string]any) {
	form["client_id"], form["client_secret"] = []string{os.Getenv("CLIENT_ID")}, []string{os.Getenv("CLIENT_SECRET")}
	for tries := 1; tries <= 3; tries++ {
		status, text, err := patiently(func() (*http.Response, error) {
			return client.PostForm(os.Getenv("AUTH_URL")+"/oauth/v1/token", form)
		})
		if err == nil && status < 500 && json.Unmarshal(text, &fresh) == nil {
			return fresh
		}
		time.Sleep(time.Duration(tries) * time.Second)
	}
	return map[string]any{"error": "no answer"}
}

// patiently waits as long as 429 and 503 ask for, up to a minute, four times at most.
func patiently(send func() (*http.Response, error)) (int, []byte, error) {
	for tries := 1; ; tries++ {
		response, err := send()
		if err != nil {
			return 0, nil, err
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if status := response.StatusCode; err != nil || (status != 429 && status != 503) || tries == 5 {
			return status, text, err
		}
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		time.Sleep(time.Duration(min(max(seconds, 1), 60)) * time.Second)
	}
}
