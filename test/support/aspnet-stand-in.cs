// What docs/samples/receiver/Receiver.cs uses of ASP.NET Core, on Mono: there is no .NET SDK to be had from Debian. The
// receiver's code is compiled with this file, unchanged. Mono's own HttpListener would listen on all addresses.

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
    public interface IResult
    {
        int StatusCode { get; }
    }

    public static class Results
    {
        public static IResult NoContent()
        {
            return new Answer { StatusCode = 204 };
        }

        public static IResult StatusCode(int status)
        {
            return new Answer { StatusCode = status };
        }

        class Answer : IResult
        {
            public int StatusCode { get; set; }
        }
    }

    public class HttpRequest
    {
        public Stream Body { get; set; }
        public Headers Headers { get; set; }
    }

    public class Headers
    {
        readonly Dictionary<string, string> headers = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase);

        // A header that is absent is an empty StringValues there.
        public string this[string name]
        {
            get { return headers.ContainsKey(name) ? headers[name] : ""; }
            set { headers[name] = value; }
        }
    }
}

namespace Microsoft.AspNetCore.Builder
{
    public class WebApplication
    {
        Func<HttpRequest, Task<IResult>> handle;

        public static WebApplication CreateBuilder(string[] args)
        {
            return new WebApplication();
        }

        public WebApplication Build()
        {
            return this;
        }

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
                Task.Run(() => Answer(client));
            }
        }

        async Task Answer(TcpClient client)
        {
            using (client)
            using (var stream = client.GetStream())
            {
                var words = ReadLine(stream).Split(' ');
                if (words.Length < 3) return; // somebody looked whether there is a listener
                var request = ReadRequest(stream);
                var status = 500;
                try
                {
                    status = (await handle(request)).StatusCode;
                }
                catch (Exception error)
                {
                    Console.Error.WriteLine(error);
                }
                var head = "HTTP/1.1 " + status + " Status\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                var bytes = Encoding.ASCII.GetBytes(status == 204 ? head.Replace("Content-Length: 0\r\n", "") : head);
                stream.Write(bytes, 0, bytes.Length);
            }
        }

        static HttpRequest ReadRequest(Stream stream)
        {
            var headers = new Headers();
            for (var line = ReadLine(stream); line != ""; line = ReadLine(stream))
            {
                var colon = line.IndexOf(':');
                headers[line.Substring(0, colon)] = line.Substring(colon + 1).Trim();
            }
            var body = new byte[int.Parse(headers["Content-Length"])];
            for (int read = 0, count = 1; read < body.Length && count > 0; read += count)
            {
                count = stream.Read(body, read, body.Length - read);
            }
            return new HttpRequest { Body = new MemoryStream(body), Headers = headers };
        }

        static string ReadLine(Stream stream)
        {
            var line = new StringBuilder();
            for (var next = stream.ReadByte(); next >= 0 && next != '\n'; next = stream.ReadByte()) line.Append((char)next);
            return line.ToString().TrimEnd('\r');
        }
    }
}
