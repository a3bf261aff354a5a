// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/http/http_client.h"

#include "engine/base/ascii.h"
#include "engine/base/utf8.h"
#include "engine/query/shown_text.h"

#include <arpa/inet.h>
#include <curl/curl.h>

#include <algorithm>
#include <cstring>
#include <exception>

namespace spanscope::remote {

namespace {

using Clock = std::chrono::steady_clock;

/// Max time between two checks for a stop or a limit.
constexpr std::chrono::milliseconds kPoll{250};

struct CloseEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct CloseMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

/// The state of a request.
struct Exchange {
  CURL* easy = nullptr;
  const HttpReceiver* receive = nullptr;
  std::size_t mostBytes = 0;
  HttpReply reply{};
  std::size_t bytes = 0;
  bool isTooLarge = false;
  std::exception_ptr thrown{};
  Clock::time_point last{};  ///< when the last bytes arrived; at first, when the request began
  const HttpRequest* request = nullptr;
  std::optional<Clock::time_point>
      ends{};  ///< when the wait for the rest ends; nothing: the whole answer is needed
};

/// Some frameworks, such as NestJS, use this status for every POST.
constexpr long kCreated = 201;

/// The status of a part of a file.
constexpr long kPartialContent = 206;
/// Max size of an answer that is no file, whatever the size of the requested file.
constexpr std::size_t kMostOtherBytes = std::size_t{64} << 20U;

bool isGood(long status, const HttpRequest& request) {
  return status == 200 || status == kCreated || (status == kPartialContent && request.begins);
}

void readHeaders(CURL* easy, const HttpRequest& request, HttpReply& reply) {
  for (const std::string& name : request.wanted) {
    curl_header* header = nullptr;
    if (curl_easy_header(easy, name.c_str(), 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
      reply.headers[name] = header->value;
  }
}

std::size_t takeBytes(char* bytes, std::size_t size, std::size_t count, void* target) {
  auto& exchange = *static_cast<Exchange*>(target);
  const std::size_t length = size * count;
  exchange.last = Clock::now();
  if (exchange.bytes + length > exchange.mostBytes) {
    exchange.isTooLarge = true;
    return 0;
  }
  exchange.bytes += length;
  const bool isFirst = exchange.reply.status == 0;
  curl_easy_getinfo(exchange.easy, CURLINFO_RESPONSE_CODE, &exchange.reply.status);
  if (!isGood(exchange.reply.status, *exchange.request) || !*exchange.receive) {
    exchange.isTooLarge = exchange.bytes > kMostOtherBytes;
    if (exchange.isTooLarge) return 0;
    exchange.reply.body.append(bytes, length);
    return length;
  }
  try {
    if (isFirst && exchange.request->begins) {
      readHeaders(exchange.easy, *exchange.request, exchange.reply);
      exchange.request->begins(exchange.reply);
    }
    (*exchange.receive)(std::string_view(bytes, length));
    if (exchange.request->patience) {
      const std::optional<std::chrono::milliseconds> patience = exchange.request->patience();
      exchange.ends = patience ? std::optional(exchange.last + *patience) : std::nullopt;
    }
  } catch (...) {
    exchange.thrown = std::current_exception();
    return 0;
  }
  return length;
}

std::string seconds(std::chrono::milliseconds time) {
  const auto count = std::chrono::duration<double>(time).count();
  std::string text = std::to_string(count);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " s";
}

}  // namespace

struct HttpClient::Connection {
  std::unique_ptr<CURLM, CloseMulti> multi{curl_multi_init()};
  std::unique_ptr<CURL, CloseEasy> easy{curl_easy_init()};

  /// Returns the reason why the request has to end now; nothing: the request may continue.
  static std::optional<Error> overdue(const Exchange& exchange, const HttpLimits& limits,
                                      Clock::time_point begin) {
    const Clock::time_point now = Clock::now();
    const auto over = [](std::chrono::milliseconds limit, Clock::duration took) {
      return limit.count() > 0 && took > limit;
    };
    const std::string most = "more than ";
    if (over(limits.whole, now - begin))
      return errorAt("reply", most + seconds(limits.whole), "an answer that ends earlier");
    if (exchange.bytes > 0) {
      if (over(limits.silence, now - exchange.last))
        return errorAt("reply", "no data for " + seconds(limits.silence), "the next piece of the answer");
      return std::nullopt;
    }
    if (over(limits.connect + limits.firstByte, now - begin))
      return errorAt("reply", "no data within " + seconds(limits.firstByte), "the first byte of the answer");
    return std::nullopt;
  }

  /// curl's code; nothing: the request was stopped, or `problem` has the reason of the end.
  std::optional<CURLcode> carryOut(Exchange& exchange, const HttpLimits& limits, const std::stop_token& stop,
                                   std::optional<Error>& problem) {
    const std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi.get()); });
    if (curl_multi_add_handle(multi.get(), easy.get()) != CURLM_OK) return CURLE_FAILED_INIT;
    const std::shared_ptr<void> atEnd(nullptr,
                                      [this](void*) { curl_multi_remove_handle(multi.get(), easy.get()); });
    const Clock::time_point begin = Clock::now();
    exchange.last = begin;
    int running = 1;
    while (!stop.stop_requested()) {
      if (curl_multi_perform(multi.get(), &running) != CURLM_OK) return CURLE_FAILED_INIT;
      int left = 0;
      while (const CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
        if (message->msg == CURLMSG_DONE) return message->data.result;
      }
      std::chrono::milliseconds wait = kPoll;
      if (exchange.ends) {
        const Clock::duration remaining = *exchange.ends - Clock::now();
        if (remaining <= Clock::duration::zero()) return CURLE_OK;
        wait = std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(remaining));
      }
      problem = overdue(exchange, limits, begin);
      if (problem) return std::nullopt;
      curl_multi_poll(multi.get(), nullptr, 0, static_cast<int>(wait.count()), nullptr);
    }
    return std::nullopt;
  }
};

HttpClient::HttpClient() : m_connection(std::make_unique<Connection>()) {}
HttpClient::~HttpClient() = default;

HttpReply HttpClient::send(const HttpRequest& request, const HttpAccess& access, const std::stop_token& stop,
                           const HttpReceiver& receive) {
  const auto refuse = [&](std::string place, std::string found, std::string expected) {
    throw Failure({request.url, std::move(place), std::move(found), std::move(expected)});
  };
  const auto address = readServerAddress(request.url);
  if (const auto* problem = std::get_if<Error>(&address))
    throw Failure({"server", problem->place, problem->found, problem->expected});
  if (const auto problem = problemOfKey(access.key))
    refuse(problem->place, problem->found, problem->expected);
  CURL* const easy = m_connection->easy.get();
  if (easy == nullptr || m_connection->multi == nullptr) refuse({}, "no memory for a connection", "some");

  curl_slist* lines = curl_slist_append(nullptr, ("Content-Type: " + request.contentType).c_str());
  // Without this header, curl waits for a 100 Continue before sending a long body. Some servers never send
  // this response.
  lines = curl_slist_append(lines, "Expect:");
  for (const std::string& line : access.keyLines) {
    if (!access.key.empty()) lines = curl_slist_append(lines, (line + access.key).c_str());
  }
  for (const std::string& line : access.headLines) lines = curl_slist_append(lines, line.c_str());
  const std::unique_ptr<curl_slist, FreeList> headers(lines);
  Exchange exchange{.easy = easy, .receive = &receive, .mostBytes = access.limits.bytes};
  exchange.request = &request;
  curl_easy_reset(easy);
  const std::string whole = request.url + (request.query.empty() ? "" : "?" + request.query);
  curl_easy_setopt(easy, CURLOPT_URL, whole.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
  if (request.isHead) curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  if (request.body) {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body->c_str());
  }
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(access.limits.connect.count()));
  // A larger body whose size is announced is refused before the transfer.
  if (!request.isHead)
    curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(access.limits.bytes));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, takeBytes);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
  // A name lookup in progress must not delay a stop.
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  if (!access.certificateFile.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, access.certificateFile.c_str());
  if (std::get<ServerAddress>(address).isLoopback) curl_easy_setopt(easy, CURLOPT_PROXY, "");

  std::optional<Error> overdue;
  const std::optional<CURLcode> code = m_connection->carryOut(exchange, access.limits, stop, overdue);
  if (exchange.thrown) std::rethrow_exception(exchange.thrown);
  HttpReply reply = std::move(exchange.reply);
  if (stop.stop_requested() && !code) {
    reply.isStopped = true;
    return reply;
  }
  // A broken connection after the end of the requested data is no failure.
  if (exchange.ends && !exchange.isTooLarge) return reply;
  const bool hasBegun = exchange.bytes > 0 && isGood(reply.status, request) && receive;
  if (exchange.isTooLarge || (code && *code == CURLE_FILESIZE_EXCEEDED))
    refuse("reply", "more than " + std::to_string(access.limits.bytes) + " bytes", "a smaller answer");
  if (overdue) {
    if (!hasBegun) refuse(overdue->place, overdue->found, overdue->expected);
    reply.brokenBy = overdue->found;
    return reply;
  }
  if (*code != CURLE_OK) {
    if (!hasBegun)
      refuse({}, "The server sent no answer: " + std::string(curl_easy_strerror(*code)) + ".",
             /*id:answer-server*/ "Check the address, and whether the server runs.");
    reply.brokenBy = curl_easy_strerror(*code);
    return reply;
  }
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &reply.status);
  readHeaders(easy, request, reply);
  // If a server repeats the key in an error, messages and traces must not show the key.
  if (!isGood(reply.status, request)) reply.body = withoutKey(reply.body, access.key);
  char* redirect = nullptr;
  curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &redirect);
  if (redirect != nullptr) reply.redirect = withoutKey(redirect, access.key);
  curl_off_t wait = 0;
  curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &wait);
  if (wait > 0) reply.retryAfter = static_cast<std::int64_t>(wait);
  return reply;
}

namespace {

constexpr std::size_t kShownCharacters = 200;

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct FreeText {
  void operator()(char* text) const { curl_free(text); }
};

/// A part of an address; nothing if the address has no such part.
std::optional<std::string> part(CURLU* url, CURLUPart what) {
  char* text = nullptr;
  if (curl_url_get(url, what, &text, 0) != CURLUE_OK) return std::nullopt;
  const std::unique_ptr<char, FreeText> owner(text);
  return std::string(text);
}

bool isLoopback(const std::string& host) {
  if (inSmallLetters(host) == "localhost") return true;
  in_addr four{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24U == 127;
  in6_addr six{};
  return inet_pton(AF_INET6, host.c_str(), &six) == 1 &&
         std::memcmp(&six, &in6addr_loopback, sizeof six) == 0;
}

}  // namespace

std::variant<ServerAddress, Error> readServerAddress(const std::string& url) {
  const std::string shown = "\"" + query::cutText(url, kShownCharacters) + "\"";
  const auto refuse = [](std::string found, std::string expected) {
    return Error{{}, {}, std::move(found), std::move(expected)};
  };
  const std::string example = "an address such as \"http://localhost:8000/v1\"";
  const std::unique_ptr<CURLU, FreeUrl> parsed(curl_url());
  if (parsed == nullptr) return refuse("no memory for an address", "free memory");
  if (url.empty()) return refuse("no address of a server", example);
  const bool isBlank =
      std::ranges::any_of(url, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; });
  if (isBlank || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK)
    return refuse(shown, example);
  const std::string scheme = part(parsed.get(), CURLUPART_SCHEME).value_or("");
  if (scheme != "http" && scheme != "https") return refuse(shown, example);
  // A secret must not be shown in messages.
  if (part(parsed.get(), CURLUPART_USER) || part(parsed.get(), CURLUPART_PASSWORD))
    return refuse("an address with a user name or a password", "an address without user name and password");
  if (part(parsed.get(), CURLUPART_QUERY) || part(parsed.get(), CURLUPART_FRAGMENT))
    return refuse("an address with ? or #", "an address without ? and #");
  std::string host = part(parsed.get(), CURLUPART_HOST).value_or("");
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  if (host.empty()) return refuse(shown, example);
  const bool isHere = isLoopback(host);
  return ServerAddress{.host = std::move(host), .isLoopback = isHere};
}

std::string originOf(const std::string& url) {
  const std::unique_ptr<CURLU, FreeUrl> parsed(curl_url());
  if (parsed == nullptr || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return {};
  const std::string scheme = part(parsed.get(), CURLUPART_SCHEME).value_or("");
  const std::string host = inSmallLetters(part(parsed.get(), CURLUPART_HOST).value_or(""));
  const std::string port = part(parsed.get(), CURLUPART_PORT)
                               .value_or(scheme == "https"  ? "443"
                                         : scheme == "http" ? "80"
                                                            : "");
  return host.empty() || port.empty() ? std::string() : scheme + "://" + host + ":" + port;
}

std::string shownReply(std::string_view text) {
  constexpr std::size_t kMostBytes = 4 * kReplyCharacters;
  return query::cutText(toValidUtf8(text.substr(0, kMostBytes)), kReplyCharacters);
}

std::string statusSentence(long status, std::string_view said) {
  while (said.ends_with('.')) said.remove_suffix(1);
  return "The server answered with status " + std::to_string(status) + (said.empty() ? "" : ": ") +
         std::string(said) + ".";
}

std::optional<Error> problemOfKey(std::string_view key) {
  const auto refuse = [](std::string found) {
    return errorAt("key", std::move(found), "one line of text, exactly as the server issued it");
  };
  if (key.size() > kMostKeyBytes) {
    return refuse("a key of " + std::to_string(key.size()) + " bytes, more than " +
                  std::to_string(kMostKeyBytes));
  }
  if (key.find_first_of("\r\n") != std::string_view::npos) return refuse("a key with a line break");
  const auto isControl = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (std::ranges::any_of(key, isControl)) return refuse("a key with a control character");
  if (!isValidUtf8(key)) return refuse("a key that is not UTF-8");
  return std::nullopt;
}

std::string withoutKey(std::string_view text, std::string_view key) {
  constexpr std::size_t kShortest = 4;
  if (key.size() < kShortest) return std::string(text);
  std::string clean;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t at = i;
    std::size_t matched = 0;
    while (matched < key.size() && at < text.size()) {
      if (text[at] == '\\' && key[matched] == '/') ++at;
      if (at >= text.size() || text[at] != key[matched]) break;
      ++at;
      ++matched;
    }
    if (matched == key.size()) {
      clean += "[the key]";
      i = at;
    } else {
      clean += text[i++];
    }
  }
  return clean;
}

}  // namespace spanscope::remote
