// SPDX-License-Identifier: GPL-3.0-or-later
// Records of HAR files, which browsers and proxies write.
#include "engine/base/utf8.h"
#include "engine/doctor/records/bodies.h"
#include "engine/doctor/records/record_formats.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace spanscope::doctor {
namespace {

std::string decodedBase64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos) continue;
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
    }
  }
  return bytes;
}

}  // namespace

bool readHarEntry(const Json& entry, std::vector<LoggedRequest>& requests) {
  const Json* text = memberAt(entry, {"request", "postData", "text"});
  if (memberAt(entry, {"request", "url"}) == nullptr || memberAt(entry, {"request", "method"}) == nullptr)
    return false;
  // Pages and pictures of the same recording are no requests of a model.
  if (text == nullptr || !text->is_string()) return true;
  const Json body = parseWithinLimits(trimmed(text->get_ref<const std::string&>()));
  if (!isBody(body)) return true;
  LoggedRequest request;
  readBody(body, request);
  AnswerReading answer;
  if (const Json* content = memberAt(entry, {"response", "content", "text"});
      content != nullptr && content->is_string()) {
    const bool isBase64 = textOfJson(memberAt(entry, {"response", "content", "encoding"})) == "base64";
    const auto& stored = content->get_ref<const std::string&>();
    readAnswerText(isBase64 ? decodedBase64(stored) : stored, answer);
  }
  if (const Json* response = memberOf(entry, "response")) {
    request.failure = failureOf(entry, response);
    const auto status = countOfJson(memberOf(*response, "status"));
    if (status && *status == 0) {  // the recorder's number for this case
      const std::string words = textOfJson(memberOf(*response, "_error"));
      request.failure = words.empty() ? "no response" : "no response: " + words;
    }
  }
  // The member "time" of an entry is its length in milliseconds.
  request.time = timeOfJson(memberOf(entry, "startedDateTime"));
  if (const Json* length = memberOf(entry, "time");
      request.time && length != nullptr && length->is_number() && length->get<double>() >= 0)
    request.running = RunningTime{
        *request.time, *request.time + static_cast<std::int64_t>(std::ceil(length->get<double>()))};
  if (request.failure.empty()) takeAnswer(std::move(answer), request);
  noteUpstream(serverInHeaders(memberAt(entry, {"response", "headers"})), request);
  readFacts(entry, request);
  readFacts(body, request);
  requests.push_back(std::move(request));
  return true;
}

}  // namespace spanscope::doctor
