// Implements the part of ASP.NET Core that docs/samples/receiver/Receiver.cs uses. Debian has no .NET SDK, so Mono compiles the unchanged
// receiver with this file. Mono's own HttpListener accepts other host names only if it listens on all addresses.

using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Http;

namespace Microsoft.AspNetCore.Http
{
    public static class Results
    {
        public static IResult NoContent() => new IResult { Status = 204 };

        public static IResult StatusCode(int status) => new IResult { Status = status };
    }

    public class IResult
    {
        public int Status;
    }

    public class HttpRequest
    {
        public Stream Body;
        public Headers Headers;
    }

    public class Headers
    {
        public Dictionary<string, string> Values;

        public string this[string name] => Values.TryGetValue(name, out var value) ? value : ""; // like an empty StringValues
    }
}

namespace Microsoft.AspNetCore.Builder
{
    public class WebApplication
    {
        Func<HttpRequest, Task<IResult>> handle;

        public static WebApplication CreateBuilder(string[] args) => new WebApplication();

        public WebApplication Build() => this;

        public void MapPost(string pattern, Func<HttpRequest, Task<IResult>> handler)
        {
            if (pattern != "/{**path}") throw new NotSupportedException(pattern); // any path
            handle = handler;
        }

        public void Run(string url)
        {
            var listener = new TcpListener(IPAddress.Loopback, new Uri(url).Port);
            listener.Start();
            while (true)
            {
                var client = listener.AcceptTcpClient();
                Task.Run(() => Respond(client));
            }
        }

        async Task Respond(TcpClient client)
        {
            using (client)
            using (var reader = new BinaryReader(client.GetStream(), Encoding.GetEncoding("latin1")))
            {
                if (!ReadLine(reader).Contains(" HTTP/1")) return; // a port check
                var values = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase);
                for (var line = ReadLine(reader); line != ""; line = ReadLine(reader))
                    values[line.Split(':')[0]] = line.Substring(line.IndexOf(':') + 1).Trim();
                var body = new MemoryStream(reader.ReadBytes(int.Parse(values["Content-Length"])));
                var status = 500;
                try
                {
                    var headers = new Headers { Values = values };
                    status = (await handle(new HttpRequest { Body = body, Headers = headers })).Status;
                }
                catch (Exception error)
                {
                    Console.Error.WriteLine(error);
                }
                var length = status == 204 ? "" : "Content-Length: 0\r\n";
                var response = Encoding.ASCII.GetBytes($"HTTP/1.1 {status} Status\r\n{length}Connection: close\r\n\r\n");
                client.GetStream().Write(response, 0, response.Length);
            }
        }

        static string ReadLine(BinaryReader reader)
        {
            var line = new StringBuilder();
            for (var next = reader.Read(); next >= 0 && next != '\n'; next = reader.Read()) line.Append((char)next);
            return line.ToString().TrimEnd('\r');
        }
    }
}
