// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/doctor/recorded_requests.h"

#include "engine/base/json_text.h"
#include "engine/trace/trace_file.h"
#include "engine/trace/trace_format.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <span>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::doctor {
namespace {

using Json = nlohmann::ordered_json;

/// The number of blocks that a gateway assumes if the server does not report the size of its cache.
constexpr std::int64_t kUnknownBlocks = std::int64_t{1} << 16U;

struct RecordedRun {
  std::string query;
  std::string model;
  std::string server;  ///< name of the server
  std::string kind;
  std::int32_t blockSize = 0;    ///< of the simulated cache; 0: unknown
  std::int64_t cacheTokens = 0;  ///< 0: unknown
  std::int64_t slots = 0;        ///< of llama-server; 0: unknown
  bool isIncomplete = false;     ///< the query lacks sections of the prompt
  std::string answer;
  Json usage = Json::object();
  std::size_t requests = 0;
  bool isFailed = false;
  std::string problem{};    ///< why the run failed; empty: unknown
  std::int64_t begin = -1;  ///< nanoseconds of the session; -1: not sent
  std::int64_t end = -1;
};

/// Adds the messages of a query in their order. `generates`: the number of its generate nodes.
void addMessages(const Json& node, Json& messages, std::string& model, std::size_t& generates) {
  if (node.is_array()) {
    for (const Json& inner : node) addMessages(inner, messages, model, generates);
    return;
  }
  if (!node.is_object()) return;
  for (const auto& [name, value] : node.items()) {
    const bool isMessage = name == "system" || name == "user" || name == "assistant";
    if (isMessage && value.is_string()) {
      messages.push_back({{"role", name}, {"content", value}});
      continue;
    }
    if (name == "g" || name == "generate") ++generates;
    if (name == "model" && value.is_string()) model = value.get<std::string>();
    addMessages(value, messages, model, generates);
  }
}

/// Takes the status of the server and its words: "status 404: no model".
void addFailure(const std::string& problem, Json& line) {
  constexpr std::string_view kStatus = "status ";
  line["status"] = 0;
  std::string_view words = problem;
  if (words.starts_with(kStatus)) {
    int status = 0;
    const auto [end, error] =
        std::from_chars(words.data() + kStatus.size(), words.data() + words.size(), status);
    if (error == std::errc() && status > 0) {
      line["status"] = status;
      words.remove_prefix(static_cast<std::size_t>(end - words.data()));
      if (words.starts_with(": ")) words.remove_prefix(2);
    }
  }
  if (!words.empty()) line["problem"] = words;
}

std::string lineOf(const RecordedRun& run) {
  const Json query = Json::parse(run.query, nullptr, false);
  Json messages = Json::array();
  std::string model = run.model;
  std::size_t generates = 0;
  if (!query.is_discarded()) addMessages(query, messages, model, generates);
  if (messages.empty() || generates > 1 || run.requests != 1) return {};
  Json line;
  line["upstream"] = run.server;
  line["server"] = {{"kind", run.kind}};
  if (run.blockSize > 0) line["server"]["block_size"] = run.blockSize;
  if (run.cacheTokens > 0) line["server"]["cache_tokens"] = run.cacheTokens;
  if (run.slots > 0) line["server"]["slots"] = run.slots;
  if (run.isIncomplete) line["incomplete"] = true;
  // The clock of a session does not show the time of the day.
  constexpr std::int64_t kNanoseconds = 1'000'000;  // of a millisecond
  if (run.begin >= 0 && run.end >= run.begin)
    line["running_ms"] = {run.begin / kNanoseconds, run.end / kNanoseconds};
  if (run.isFailed)
    addFailure(run.problem, line);
  else
    line["status"] = 200;
  line["request"] = {{"model", model}, {"messages", std::move(messages)}};
  if (!run.isFailed) {
    Json& response = line["response"];
    if (!run.model.empty()) response["model"] = run.model;
    response["choices"] =
        Json::array({{{"index", 0}, {"message", {{"role", "assistant"}, {"content", run.answer}}}}});
    if (!run.usage.empty()) response["usage"] = run.usage;
  }
  return compactJson(line) + "\n";
}

std::string linesOf(const trace::TraceFile& file) {
  std::map<std::string, std::string> kinds;  // by the name of a server
  std::map<RunId, RecordedRun> runs;
  std::vector<RunId> order;
  RecordedRun sizes;  // only the sizes of the cache, as they were last reported
  const auto takePool = [&sizes](const trace::PoolState& pool) {
    const auto blocks = static_cast<std::int64_t>(pool.blocks.size()) - 1;  // without the null block
    if (blocks <= 0) return;
    sizes.blockSize = pool.blockSize;
    sizes.cacheTokens = blocks == kUnknownBlocks ? 0 : blocks * pool.blockSize;
  };
  for (const trace::Event& event : file.events) {
    if (const auto* session = std::get_if<trace::SessionStarted>(&event.payload)) takePool(session->pool);
    if (const auto* snapshot = std::get_if<trace::Snapshot>(&event.payload)) takePool(snapshot->pool);
    if (const auto* server = std::get_if<trace::ServerChosen>(&event.payload))
      kinds[server->name] = server->kind;
    if (event.run == 0) continue;
    RecordedRun& run = runs[event.run];
    if (const auto* started = std::get_if<trace::RunStarted>(&event.payload)) {
      run.query = started->queryJson;
      run.blockSize = sizes.blockSize;
      run.cacheTokens = sizes.cacheTokens;
      order.push_back(event.run);
    } else if (const auto* sent = std::get_if<trace::RequestSent>(&event.payload)) {
      run.server = sent->server;
      run.model = sent->model;
      if (run.begin < 0) run.begin = event.time;
      ++run.requests;
    } else if (const auto* passed = std::get_if<trace::RequestPassed>(&event.payload)) {
      run.slots = passed->slots.value_or(0);
      run.isIncomplete = !passed->missing.empty();
    } else if (const auto* text = std::get_if<trace::TextReceived>(&event.payload)) {
      run.answer += text->text;
    } else if (const auto* reported = std::get_if<trace::ServerReported>(&event.payload)) {
      run.end = event.time;
      if (!reported->brokenBy.empty()) run.problem = reported->brokenBy;
      if (!reported->model.empty()) run.model = reported->model;
      if (reported->promptTokens) run.usage["prompt_tokens"] = *reported->promptTokens;
      if (reported->isCachedKnown())
        run.usage["prompt_tokens_details"]["cached_tokens"] = reported->cachedTokens;
    } else if (const auto* message = std::get_if<trace::MessageLogged>(&event.payload)) {
      if (message->severity == Severity::Error && run.problem.empty()) run.problem = message->text;
    } else if (const auto* finished = std::get_if<trace::RunFinished>(&event.payload)) {
      // The prompt of a stopped run counts as computed, as in the gateway.
      run.isFailed = finished->outcome == trace::RunOutcome::Failed && run.answer.empty();
    }
  }
  std::string lines;
  for (const RunId id : order) {
    RecordedRun& run = runs[id];
    run.kind = kinds[run.server];
    if (run.requests > 0) lines += lineOf(run);
  }
  return lines;
}

}  // namespace

bool isTrace(std::string_view beginning) {
  return beginning.size() >= trace::kTraceMagic.size() &&
         std::equal(trace::kTraceMagic.begin(), trace::kTraceMagic.end(), beginning.begin(),
                    [](std::uint8_t one, char other) { return one == static_cast<std::uint8_t>(other); });
}

std::string requestsOfTrace(const std::filesystem::path& path) {
  return linesOf(trace::readTrace(path));
}

std::string requestsOfTrace(std::string_view bytes, const std::string& name) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return linesOf(trace::readTrace(std::span(first, bytes.size()), name));
}

}  // namespace spanscope::doctor
