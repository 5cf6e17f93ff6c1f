using System;
using System.IO;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;

public static class Receiver
{
    static byte[][] keys;

    public static void Main(string[] args)
    {
        keys = (Environment.GetEnvironmentVariable("SEGREDO") ?? "").Split(' ').Select(KeyOf).ToArray();
        Directory.CreateDirectory("events");
        var app = WebApplication.CreateBuilder(args).Build();
        app.MapPost("/{**path}", Receive);
        app.Run("http://127.0.0.1:8080");
    }

    static async Task<IResult> Receive(HttpRequest request)
    {
        var buffer = new byte[65537];
        int length = 0, read;
        while ((read = await request.Body.ReadAsync(buffer, length, buffer.Length - length)) > 0) length += read;
        if (length > 65536) return Reject(413, "the body is larger than 64 KiB");
        var body = buffer.Take(length).ToArray(); // the bytes as they arrived
        var id = request.Headers["webhook-id"].ToString();
        var timestamp = request.Headers["webhook-timestamp"].ToString();
        var signatures = request.Headers["webhook-signature"].ToString();
        var now = DateTimeOffset.UtcNow.ToUnixTimeSeconds();
        var reason = RejectionReason(id, timestamp, signatures, body, now);
        if (reason != null) return Reject(400, reason);

        // Stores each webhook-id once. In your system, use an INSERT with a unique key.
        var path = Path.Combine("events", id + ".json");
        try
        {
            if (!File.Exists(path))
            {
                var newPath = Path.Combine("events", "new" + Guid.NewGuid());
                File.WriteAllBytes(newPath, body);
                File.Move(newPath, path); // only complete files have this name
                Console.WriteLine(id + " " + Encoding.UTF8.GetString(body));
            }
        }
        catch (Exception error)
        {
            return Reject(500, error.GetType().Name); // the event is not stored, so Emissor will retry
        }
        return Results.NoContent();
    }

    static IResult Reject(int status, string reason)
    {
        Console.Error.WriteLine(status + ": " + reason);
        return Results.StatusCode(status);
    }

    // Decodes the 32 bytes after whsec_. Fails without a secret, because anyone can sign with an empty key.
    static byte[] KeyOf(string secret)
    {
        if (!Regex.IsMatch(secret, @"^whsec_[A-Za-z0-9+/]{43}=\z"))
        {
            throw new InvalidOperationException("Put the segredo of each webhook (whsec_...) into SEGREDO, separated by one space.");
        }
        return Convert.FromBase64String(secret.Substring("whsec_".Length));
    }

    // Returns the reason to reject a request, or null if Emissor signed it within the last five minutes.
    static string RejectionReason(string id, string timestamp, string signatures, byte[] body, long now)
    {
        if (!Regex.IsMatch(id, @"^[A-Za-z0-9_-]+\z")) return "webhook-id is missing or malformed";
        if (!Regex.IsMatch(timestamp, @"^[0-9]{1,12}\z")) return "webhook-timestamp is missing or malformed";
        if (Math.Abs(now - long.Parse(timestamp)) > 300) return "webhook-timestamp differs from this clock by more than 300 seconds";
        if (signatures == "") return "webhook-signature is missing";
        var content = Encoding.UTF8.GetBytes(id + "." + timestamp + ".").Concat(body).ToArray();
        var isAuthentic = keys.Any(key =>
        {
            using (var hmac = new HMACSHA256(key))
            {
                var expected = Encoding.UTF8.GetBytes("v1," + Convert.ToBase64String(hmac.ComputeHash(content)));
                return signatures.Split(' ').Any(signature =>
                    CryptographicOperations.FixedTimeEquals(expected, Encoding.UTF8.GetBytes(signature))); // in constant time
            }
        });
        return isAuthentic ? null : "no signature matches: check that SEGREDO contains the segredo of this webhook";
    }
}
