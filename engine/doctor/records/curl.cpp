// SPDX-License-Identifier: GPL-3.0-or-later
// Commands of curl with a request.
#include "engine/base/utf8.h"
#include "engine/doctor/records/bodies.h"
#include "engine/doctor/records/record_formats.h"

#include <cstddef>
#include <utility>

namespace spanscope::doctor {
namespace {

/// Splits a command into words as a POSIX shell does.
std::vector<std::string> shellWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool hasWord = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      ++i;
      if (i < text.size() && text[i] != '\n') {
        word += text[i];
        hasWord = true;
      }
    } else if (c == '\'' || c == '"') {
      const bool isAnsi = c == '\'' && i > 0 && text[i - 1] == '$' && word.ends_with('$');
      if (isAnsi) word.pop_back();
      hasWord = true;
      for (++i; i < text.size() && text[i] != c; ++i) {
        if (text[i] == '\\' && (c == '"' || isAnsi) && i + 1 < text.size()) {
          const char next = text[++i];
          if (isAnsi) {
            word += next == 'n' ? '\n' : next == 't' ? '\t' : next;
          } else if (next != '\n') {
            if (std::string_view("$`\"\\").find(next) == std::string_view::npos) word += '\\';
            word += next;
          }
        } else {
          word += text[i];
        }
      }
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (hasWord) words.push_back(std::exchange(word, {}));
      hasWord = false;
    } else {
      word += c;
      hasWord = true;
    }
  }
  if (hasWord) words.push_back(std::move(word));
  return words;
}

}  // namespace

std::string readCurl(std::string_view text, std::vector<LoggedRequest>& requests) {
  const std::vector<std::string> words = shellWords(text);
  std::string body;
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const std::string_view option :
         {"--data-raw", "--data-binary", "--data-ascii", "--data", "--json", "-d"}) {
      if (words[i] == option && i + 1 < words.size()) {
        body += words[++i];
        break;
      }
      const bool isJoined = option.starts_with("--") ? words[i].starts_with(std::string(option) + "=")
                                                     : words[i].starts_with(option) && words[i].size() > 2;
      if (isJoined) {
        body += words[i].substr(option.size() + (option.starts_with("--") ? 1 : 0));
        break;
      }
    }
  }
  if (body.starts_with('@')) return "a curl command with its body in another file";
  const Json json = parseWithinLimits(trimmed(body));
  if (!isBody(json)) return "a curl command without a request to a model";
  addRequest(json, json, requests);
  return {};
}

}  // namespace spanscope::doctor
