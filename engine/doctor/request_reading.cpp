// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the requests of a record in any of its forms.
#include "engine/base/utf8.h"
#include "engine/doctor/log_reader.h"
#include "engine/doctor/records/bodies.h"
#include "engine/doctor/records/record_formats.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

namespace spanscope::doctor {
namespace {

constexpr std::size_t kMostRequests = 100'000;  // in one record

using Read = bool (*)(const Json& record, std::vector<LoggedRequest>& requests);
/// A line for each form. The last one takes any object around a request.
constexpr std::array<Read, 3> kFormats{
    readHarEntry,  //
    readSpan,      //
    readWrapped,   //
};

void readRecord(const Json& record, std::vector<LoggedRequest>& requests, int depth = 0) {
  if (depth > kMostWrappers || requests.size() >= kMostRequests) return;
  const auto each = [&](const Json* list) {
    if (list == nullptr || !list->is_array()) return false;
    for (const Json& one : *list) readRecord(one, requests, depth + 1);
    return true;
  };
  if (record.is_array()) {
    each(&record);
    return;
  }
  if (!record.is_object()) return;
  for (const Json* list :
       {memberAt(record, {"log", "entries"}), memberOf(record, "resourceSpans", "resource_spans"),
        memberOf(record, "scopeSpans", "scope_spans"), memberOf(record, "spans")})
    if (each(list)) return;
  for (const auto& read : kFormats)
    if (read(record, requests)) return;
  for (const char* name : {"entries", "requests", "records", "logs", "data"})
    if (each(memberOf(record, name))) return;
}

}  // namespace

bool readWrapped(const Json& record, std::vector<LoggedRequest>& requests) {
  std::deque<Json> held;
  const Json* body = bodyIn(record, held);
  if (body != nullptr) addRequest(record, *body, requests);
  return body != nullptr;
}

std::vector<LoggedRequest> requestsOf(std::string_view record, std::string& problem) {
  std::vector<LoggedRequest> requests;
  std::string_view text = trimmed(record);
  std::string_view command = text;
  if (command.starts_with("$ ")) command.remove_prefix(2);
  if (command.starts_with("curl ") || command.starts_with("curl\t")) {
    problem = readCurl(command, requests);
  } else {
    problem = faultOfShape(text);
    if (!problem.empty()) return requests;
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) {
      problem = "text that is not JSON";
      return requests;
    }
    readRecord(json, requests);
    if (requests.empty() && memberAt(json, {"log", "entries"}) == nullptr &&
        memberOf(json, "attributes") == nullptr &&
        memberOf(json, "resourceSpans", "resource_spans") == nullptr &&
        memberAt(json, {"request", "url"}) == nullptr)
      problem = "no request to a model";
  }
  // A request without any text has no prompt to compare.
  std::erase_if(requests,
                [](const LoggedRequest& request) { return request.messages.empty() && request.ids.empty(); });
  for (std::size_t i = 0; i < requests.size(); ++i) requests[i].place.part = static_cast<std::uint32_t>(i);
  return requests;
}

}  // namespace spanscope::doctor
