package emissor

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var oneAtATime, client, failedAt, failure = new(sync.Mutex), &http.Client{Timeout: 30 * time.Second}, time.Time{}, error(nil)
var seconds, _ = strconv.ParseFloat(cmp.Or(os.Getenv("REFRESH_SECONDS"), "25"), 64)
var file, owner = os.Getenv("TOKENS_FILE"), os.ExpandEnv("$AUTH_URL $CLIENT_ID $USER_EMAIL") // tokens of another are not used

// Call calls the API; once more, with another token, where the stored one is refused.
func Call(method, path, body string) (status int, answer []byte, err error) {
	for tries, token := 1, any(nil); tries == 1 || (tries == 2 && status == 401); tries++ {
		token, err = validToken(token)
		for sends, wait := 1, time.Duration(0); (err == nil && sends == 1) || (wait > 0 && sends <= 5); sends++ {
			time.Sleep(wait)
			request, _ := http.NewRequest(method, os.Getenv("BASE_URL")+path, strings.NewReader(body))
			request.Header = http.Header{"Authorization": {fmt.Sprint("Bearer ", token)}, "Content-Type": {"application/json"}}
			status, answer, wait, err = read(client.Do(request))
		}
	}
	return status, answer, err
}

// validToken returns the stored token unless it was refused. One other is asked for, however many goroutines wait for it.
func validToken(refused any) (any, error) {
	asked := time.Now()
	oneAtATime.Lock()
	defer oneAtATime.Unlock()
	now, pairs := float64(time.Now().UnixMilli())/1000, map[string]json.RawMessage{}
	stored, fresh := map[string]any{"refresh_until": now + seconds}, map[string]any{"error": "invalid_grant"}
	text, _ := os.ReadFile(file) // there is none before the first login
	json.Unmarshal(text, &pairs)
	json.Unmarshal(pairs[owner], &stored)
	if file == "" {
		return nil, errors.New("TOKENS_FILE is not set")
	} else if until, _ := stored["refused_until"].(float64); now < until {
		return nil, errors.New("the login was refused: mend the password and delete " + file)
	} else if failedAt.After(asked) { // whoever waits for a refresh fails with it
		return nil, failure
	} else if token := stored["access_token"]; token != nil && token != refused {
		return token, nil
	} else if err := store(stored); err != nil { // before the refresh token is sent: no later call may send it after that
		return nil, err
	}
	if until, _ := stored["refresh_until"].(float64); stored["refresh_token"] != nil && now <= until {
		fresh = grant(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {fmt.Sprint(stored["refresh_token"])}}, until)
	}
	if fresh["error"] == "invalid_grant" || fresh["error"] == "unauthorized_client" {
		// The session is over, or may not be refreshed: one login, and no loop.
		fresh = grant(url.Values{"grant_type": {"password"}, "username": {os.Getenv("USER_EMAIL")}, "password": {os.Getenv("USER_PASSWORD")}}, math.Inf(1))
	}
	if failedAt = (time.Time{}); fresh["access_token"] != nil {
		return fresh["access_token"], store(fresh) // before anybody uses it
	} else if failedAt, failure = time.Now(), fmt.Errorf("there is no token: %v", fresh["error"]); fresh["error"] == "invalid_grant" {
		return nil, errors.Join(failure, store(map[string]any{"refused_until": now + 900}))
	}
	return nil, failure
}

func store(content map[string]any) error {
	text, _ := json.Marshal(map[string]any{owner: content})
	next := fmt.Sprint(file, ".", rand.Uint64()) // a file that is not whole never has the name
	if err := os.WriteFile(next, text, 0600); err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return os.Rename(next, file)
}

// grant repeats a request that failed or whose answer was lost. A refresh token that is sent again after 30 seconds counts as stolen.
func grant(form url.Values, until float64) (fresh map[string]any) {
	form["client_id"], form["client_secret"] = []string{os.Getenv("CLIENT_ID")}, []string{os.Getenv("CLIENT_SECRET")}
	for tries, wait := 1, time.Duration(0); tries <= 4; tries++ {
		if time.Sleep(wait); tries > 1 && float64(time.Now().UnixMilli())/1000 >= until { // a login waits, too
			return map[string]any{"error": "invalid_grant"}
		}
		status, text, asked, err := read((&http.Client{Timeout: 8 * time.Second}).PostForm(os.Getenv("AUTH_URL")+"/oauth/v1/token", form))
		if err == nil && status < 500 && asked == 0 && json.Unmarshal(text, &fresh) == nil {
			return fresh
		}
		wait = max(asked, time.Duration(tries)*time.Second)
	}
	return map[string]any{"error": "no answer"}
}

// read returns the time, too, that 429 and 503 ask to wait, a minute at most.
func read(response *http.Response, failure error) (status int, text []byte, wait time.Duration, err error) {
	if failure != nil {
		return 0, nil, 0, failure
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	asked, _ := time.ParseDuration(response.Header.Get("Retry-After") + "s")
	return response.StatusCode, text, map[int]time.Duration{429: 1, 503: 1}[response.StatusCode] * min(max(asked, time.Second), time.Minute), err
}
