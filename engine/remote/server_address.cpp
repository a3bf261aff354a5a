// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server_address.h"

#include "engine/query/shown_text.h"

#include <arpa/inet.h>
#include <curl/curl.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

namespace spanscope::remote {
namespace {

constexpr std::size_t kShownCharacters = 200;

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct FreeText {
  void operator()(char* text) const { curl_free(text); }
};

/// A part of an address; nothing if the address lacks it.
std::optional<std::string> part(CURLU* url, CURLUPart what) {
  char* text = nullptr;
  if (curl_url_get(url, what, &text, 0) != CURLUE_OK) return std::nullopt;
  const std::unique_ptr<char, FreeText> owner(text);
  return std::string(text);
}

bool isLoopback(const std::string& host) {
  std::string lower = host;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (lower == "localhost") return true;
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
  if (parsed == nullptr) return refuse("no memory for an address", "some");
  if (url.empty()) return refuse("no address of a server", example);
  const bool isBlank = std::any_of(
      url.begin(), url.end(), [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; });
  if (isBlank || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK)
    return refuse(shown, example);
  const std::string scheme = part(parsed.get(), CURLUPART_SCHEME).value_or("");
  if (scheme != "http" && scheme != "https") return refuse(shown, example);
  // A secret must not be shown in messages.
  if (part(parsed.get(), CURLUPART_USER) || part(parsed.get(), CURLUPART_PASSWORD))
    return refuse("an address with a user name or a password", "one without");
  if (part(parsed.get(), CURLUPART_QUERY) || part(parsed.get(), CURLUPART_FRAGMENT))
    return refuse("an address with ? or #", "one without");
  std::string host = part(parsed.get(), CURLUPART_HOST).value_or("");
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  if (host.empty()) return refuse(shown, example);
  const bool isHere = isLoopback(host);
  return ServerAddress{.host = std::move(host), .isLoopback = isHere};
}

}  // namespace spanscope::remote
