// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/remote_inputs.h"

#include "app/cli/asked_server.h"
#include "app/cli/bench_report.h"
#include "app/cli/export_options.h"
#include "app/cli/input.h"
#include "app/cli/job_journal.h"
#include "app/cli/terminal_output.h"
#include "engine/base/clock.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/json_text.h"
#include "engine/base/output_file.h"
#include "engine/base/utf8.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/chat/remote_trace.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/remote/http/http_client.h"
#include "engine/remote/protocol.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/servers/cache_order.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// The result of a line.
struct LineResult {
  nlohmann::ordered_json json{};  ///< an object, without the number of the line
  std::string problem{};          ///< why the line has no answer; empty: no problem
  bool isStopped = false;         ///< a stop ended the line, so that it has no result
};

/// Sends the requests of a line. Called on any thread.
using LineTask = std::function<LineResult(remote::HttpClient& client, const std::stop_token& stop)>;

struct InputsJob {
  std::string inputs;   ///< file of JSON lines, each an object of parameter values
  std::string results;  ///< file for the results; the journal is beside it
  std::size_t atOnce = 1;
  std::string identity;  ///< different for another server, query or setting
  /// Prepares a line with its parameter values. Never called by two threads at the same time. Throws Failure.
  std::function<LineTask(const std::map<std::string, std::string>& values)> prepare;
  /// Returns the sending order of the lines that prepare() has prepared since the last call, as indices.
  /// Empty: in the order of the lines. Null: each line is prepared when it is sent.
  std::function<std::vector<std::size_t>()> schedule{};
};

constexpr std::size_t kMostInputBytes = std::size_t{1} << 30U;
constexpr std::size_t kMostQueryBytes = std::size_t{1} << 28U;

/// A line of the inputs that is not empty.
struct InputLine {
  std::size_t number = 0;  ///< from 1
  std::string_view text;
};

std::vector<InputLine> linesIn(std::string_view text) {
  std::vector<InputLine> lines;
  std::size_t number = 0;
  for (const std::string_view line : splitAt(text, '\n')) {
    ++number;
    if (!trimmed(line).empty()) lines.push_back({number, line});
  }
  return lines;
}

/// Returns the values of the parameters. Throws Failure for a line that is no object of texts and numbers.
std::map<std::string, std::string> valuesIn(const InputLine& line, const std::string& file) {
  const Json json = Json::parse(line.text, nullptr, false);
  const auto refuse = [&](const std::string& found) {
    throw Failure({file, "line " + std::to_string(line.number), found,
                   "a JSON object with the values of the parameters, such as {\"name\": \"text\"}"});
  };
  if (!json.is_object()) refuse("something that is not a JSON object");
  std::map<std::string, std::string> values;
  for (const auto& [name, value] : json.items()) {
    if (value.is_string())
      values[name] = value.get<std::string>();
    else if (value.is_number() || value.is_boolean())
      values[name] = value.dump();
    else
      refuse("another value of \"" + name + "\"");
  }
  return values;
}

std::string lineText(const Json& json) {
  return compactJson(json);
}

/// The lines in progress.
class InputsRun {
 public:
  InputsRun(const Context& context, const InputsJob& job, std::vector<InputLine> lines, JobJournal& journal)
      : m_context(context), m_job(job), m_lines(std::move(lines)), m_journal(journal) {
    for (const InputLine& line : m_lines) m_finished += m_journal.has(line.number) ? 1 : 0;
  }

  void run() {
    const std::size_t count = std::min(m_job.atOnce, m_lines.size() - m_finished);
    m_begin = Clock::now();
    m_before = m_finished;
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    while (isWorking()) showState();
    threads.clear();
    showProgress(m_context, "");
    if (m_thrown) std::rethrow_exception(m_thrown);
  }

  std::size_t finished() const { return m_finished; }
  const std::map<std::size_t, std::string>& problems() const { return m_problems; }
  bool isStopped() const { return m_context.stop.stop_requested(); }
  bool hasGivenUp() const { return m_hasGivenUp; }

 private:
  bool isWorking() {
    constexpr std::chrono::milliseconds kPeriod{50};
    {
      const std::lock_guard lock(m_mutex);
      if (m_running == 0 && ((m_next == m_lines.size() && m_ready.empty()) || isOver())) return false;
    }
    std::this_thread::sleep_for(kPeriod);
    return true;
  }
  bool isOver() const { return isStopped() || m_hasGivenUp || m_thrown; }

  void showState() {
    const std::lock_guard lock(m_mutex);
    const double seconds = secondsSince(m_begin);
    const double rate = seconds > 0 ? static_cast<double>(m_finished - m_before) / seconds : 0;
    std::string text = fmt::format("{} of {} lines, {:.1f} per second", m_finished, m_lines.size(), rate);
    if (!m_problems.empty()) text += fmt::format(", {} without an answer", m_problems.size());
    showProgress(m_context, text);
    // Without a terminal, a line now and then shows that the job continues.
    constexpr std::chrono::seconds kReport{30};
    if (m_context.streams.terminal != nullptr || Clock::now() - m_reported < kReport) return;
    m_reported = Clock::now();
    m_context.streams.err << text << '\n' << std::flush;
  }

  using NextLine = std::pair<LineTask, std::size_t>;

  /// Prepares the next lines without a result, and schedules them.
  void prepareLines() {
    const std::size_t most = m_job.schedule ? kMostScheduled : 1;
    std::vector<NextLine> ready;
    while (ready.size() < most && m_next < m_lines.size() && !isOver()) {
      const InputLine& line = m_lines[m_next++];
      if (m_journal.has(line.number)) continue;
      try {
        ready.emplace_back(m_job.prepare(valuesIn(line, inputName(m_job.inputs))), line.number);
      } catch (const Failure& failure) {
        m_problems[line.number] = failure.what();
      }
    }
    const std::vector<std::size_t> order = m_job.schedule ? m_job.schedule() : std::vector<std::size_t>();
    for (std::size_t place = 0; place < ready.size(); ++place)
      m_ready.push_back(std::move(ready[order.size() == ready.size() ? order[place] : place]));
  }

  /// Takes the next line without a result. Empty: there is none.
  NextLine next() {
    const std::lock_guard lock(m_mutex);
    if (m_ready.empty()) prepareLines();
    if (m_ready.empty() || isOver()) return {};
    NextLine line = std::move(m_ready.front());
    m_ready.pop_front();
    ++m_running;
    return line;
  }

  void work() {
    remote::HttpClient client;
    while (true) {
      auto [task, number] = next();
      if (!task) return;
      LineResult result;
      try {
        result = task(client, m_context.stop);
      } catch (const std::exception& exception) {
        result.problem = exception.what();
      }
      try {
        if (result.problem.empty() && !result.isStopped) m_journal.add(number, lineText(result.json));
      } catch (const std::exception&) {
        const std::lock_guard lock(m_mutex);
        m_thrown = std::current_exception();
      }
      finish(number, result);
    }
  }

  void finish(std::size_t number, const LineResult& result) {
    // A server that fails every line will also fail the next lines.
    constexpr std::size_t kMostFailures = 20;
    const std::lock_guard lock(m_mutex);
    --m_running;
    if (result.isStopped) return;
    if (result.problem.empty()) {
      ++m_finished;
      m_failures = 0;
      return;
    }
    m_problems[number] = result.problem;
    m_hasGivenUp |= ++m_failures >= std::max(kMostFailures, 2 * m_job.atOnce);
  }

  const Context& m_context;
  const InputsJob& m_job;
  const std::vector<InputLine> m_lines;
  JobJournal& m_journal;
  std::mutex m_mutex;  ///< guards the members below
  std::size_t m_next = 0;
  std::deque<std::pair<LineTask, std::size_t>> m_ready;  ///< prepared lines in sending order
  std::size_t m_running = 0;
  std::size_t m_finished = 0;  ///< lines with a result
  std::size_t m_before = 0;
  std::size_t m_failures = 0;  ///< since the last answer
  bool m_hasGivenUp = false;
  std::map<std::size_t, std::string> m_problems;  ///< by line
  std::exception_ptr m_thrown;
  Clock::time_point m_begin = Clock::now();
  Clock::time_point m_reported = Clock::now();
};

/// Writes all results in the order of the lines.
void writeResults(const Context& context, const InputsJob& job, const JobJournal& journal,
                  const std::map<std::size_t, std::string>& problems) {
  OutputFile file(job.results,
                  {.inputs = {}, .unfinished = context.streams.unfinished, .stop = context.stop});
  const auto write = [&file](const std::string& line) {
    file.write(std::span(reinterpret_cast<const std::uint8_t*>(line.data()), line.size()));
  };
  auto problem = problems.begin();
  const auto writeProblems = [&](std::size_t before) {
    for (; problem != problems.end() && problem->first < before; ++problem)
      write(lineText({{"line", problem->first}, {"error", problem->second}}) + "\n");
  };
  journal.read([&](std::size_t line, const std::string& result) {
    writeProblems(line);
    // The result is an object.
    write("{\"line\":" + std::to_string(line) + (result == "{}" ? "" : ",") + result.substr(1) + "\n");
  });
  writeProblems(SIZE_MAX);
  file.commit();
}

/// Describes all settings that change a prompt or an answer. Two jobs with the same text have the same
/// answers for the same lines.
std::string jobIdentity(const RemoteRunOptions& options, const remote::RemoteTarget& target, bool isOrdered,
                        bool hasNote, const std::string& query) {
  const workbench::RunSettings& settings = options.query.settings;
  Json job{{"url", target.server.url},
           {"model", target.server.model},
           {"protocol", options.protocol},
           {"seed", options.seed.value_or(0)},
           {"tokenizer", options.tokenizer},
           {"template", options.chatTemplate},
           {"ordered", isOrdered},
           {"order_note", hasNote},
           {"locality", settings.locality},
           {"locality_shape", settings.localityShape},
           {"reduce_prompt", settings.reducePrompt},
           {"values", options.query.values},
           {"query", query}};
  for (const CLI::Option* option : options.query.retrievalOptions) {
    if (option->count() > 0) job["retrieval"][option->get_name()] = option->results();
  }
  return lineText(job);
}

/// Does all lines without a result, and writes the results in the order of the lines.
ExitCode runInputs(const Context& context, const InputsJob& job) {
  const Streams& streams = context.streams;
  const std::string text = readInput(job.inputs, streams, kMostInputBytes);
  std::vector<InputLine> lines = linesIn(text);
  if (lines.empty()) throw Failure({inputName(job.inputs), {}, "no line", "a JSON object on each line"});
  const std::size_t all = lines.size();
  JobJournal journal(job.results + ".journal", job.identity + "\n" + text);
  if (streams.endsByItself != nullptr) *streams.endsByItself = true;
  if (journal.count() > 0)
    streams.err << "Continuing: " << journal.count() << " of " << counted(all, "line") << " have a result\n"
                << std::flush;
  InputsRun run(context, job, std::move(lines), journal);
  run.run();
  if (run.isStopped() || run.hasGivenUp()) {
    if (run.hasGivenUp())
      streams.err << "line " << run.problems().begin()->first << ": " << run.problems().begin()->second
                  << '\n';
    streams.err << (run.isStopped() ? "Stopped" : "Ended, because the server does not answer") << ": "
                << run.finished() << " of " << counted(all, "line")
                << " have a result. Run the same command again to continue.\n";
    return run.isStopped() ? ExitCode::Stopped : ExitCode::RunFailed;
  }
  writeResults(context, job, journal, run.problems());
  for (const auto& [line, problem] : run.problems())
    streams.err << "line " << line << ": " << problem << '\n';
  if (!run.problems().empty()) {
    streams.err << counted(run.problems().size(), "line")
                << " without an answer. Run the same command again to retry "
                << "these lines.\n";
    return ExitCode::RunFailed;
  }
  journal.remove();
  streams.out << counted(all, "result") << " in " << job.results << '\n';
  return ExitCode::Fine;
}

/// Feeds the cache simulator of a line.
class LineWatcher final : public remote::RemoteWatcher {
 public:
  LineWatcher(const remote::RemoteTarget& target, workbench::CacheOrderer* orderer)
      : m_target(target), m_orderer(orderer) {}
  void sends(std::size_t request, std::size_t /*target*/, const std::string& /*model*/,
             std::size_t /*bytes*/) override {
    if (m_orderer != nullptr) m_orderer->sends(request, m_target);
  }
  void stepEnds(const remote::RemoteStep& step) override {
    if (m_orderer != nullptr) m_orderer->ends(step);
  }

 private:
  const remote::RemoteTarget& m_target;
  workbench::CacheOrderer* m_orderer;
};

/// Sums a count over all steps. Null: a step does not report the count.
Json sumOverSteps(const remote::RemoteResult& result,
                  const std::function<std::optional<std::int64_t>(const remote::RemoteStep&)>& count) {
  std::int64_t sum = 0;
  for (const remote::RemoteStep& step : result.steps) {
    const std::optional<std::int64_t> own = count(step);
    if (!own) return nullptr;
    sum += *own;
  }
  return sum;
}

LineResult lineResult(const AskedQuery& asked, const remote::RemoteResult& result) {
  if (result.isStopped) return {.isStopped = true};
  if (result.error) return {.problem = result.error->message()};
  LineResult line;
  line.json["answer"] = remote::answerOf(asked.sent.requests, result);
  line.json["model"] = result.steps.empty() ? std::string() : result.steps.back().answer.model;
  line.json["requests"] = result.steps.size();
  line.json["prompt_tokens"] =
      sumOverSteps(result, [](const auto& step) { return step.answer.promptTokens; });
  line.json["cached_tokens"] =
      sumOverSteps(result, [](const auto& step) { return step.answer.cachedTokens; });
  line.json["generated_tokens"] =
      sumOverSteps(result, [](const auto& step) { return step.answer.generatedTokens; });
  double seconds = 0;
  for (const remote::RemoteStep& step : result.steps) seconds += step.seconds;
  line.json["all_ms"] = seconds * kMilliseconds;
  if (!result.steps.empty()) line.json["finish"] = result.steps.back().answer.finish;
  return line;
}

}  // namespace

ExitCode runOverInputs(const Context& context, const RemoteRunOptions& options) {
  const Streams& streams = context.streams;
  const std::optional<AskedServer> there = serverToAsk(context, options.server);
  if (!there) return ExitCode::RunFailed;
  const remote::Protocol* const protocol =
      remote::findProtocol(options.protocol.empty() ? there->protocol : options.protocol);
  remote::HttpClient client;
  std::optional<remote::ServerFacts> facts =
      factsOf(context, client, there->server.url,
              protocol == nullptr ? there->server.access : remote::accessIn(*protocol, there->server.access));
  if (context.stop.stop_requested()) return ExitCode::Stopped;
  if (!facts) return ExitCode::RunFailed;
  noteModel(*facts, options);
  const std::optional<remote::RemoteTarget> made = targetFor(*there, *facts, options, streams);
  if (!made) return ExitCode::RunFailed;
  const std::string& file = options.files.front();
  QueryOptions given = queryOptions(options.query);
  retrieveWith(given, options.query, context);
  const bool isOrdered = options.order.empty() ? !there->keepsOrder : options.order == "cache";
  const std::optional<OrderModel> model = isOrdered ? orderModel(options) : std::nullopt;
  const auto simulators = std::make_shared<workbench::ServerSimulators>();
  // The lines of a batch share a plan, which is made before the first of them is sent.
  auto plan = std::make_shared<std::shared_ptr<const workbench::CacheOrderer::Plan>>();
  std::vector<exports::ChatRequest> firstRequests;
  bool isFirst = true;
  InputsJob job{.inputs = options.inputs,
                .results = options.results,
                .atOnce = options.atOnce.value_or(there->atOnce),
                .identity = {},
                .prepare = {}};
  const bool hasNote = isOrdered && (options.hasOrderNote || there->hasOrderNote);
  job.identity = jobIdentity(options, *made, isOrdered, hasNote, readInput(file, streams, kMostQueryBytes));
  job.prepare = [&](const std::map<std::string, std::string>& values) -> LineTask {
    // The warnings of the first line are also those of the other lines.
    std::ostringstream others;
    Streams own{.in = streams.in, .out = streams.out, .err = isFirst ? streams.err : others};
    own.stop = streams.stop;
    QueryOptions line = given;
    for (const auto& [name, value] : values) line.parameters[name] = value;
    const auto asked = std::make_shared<AskedQuery>();
    std::optional<QueryFile> read = readFileForServer(file, line, own);
    if (read) {
      asked->name = inputName(file);
      asked->query = localized(read->query, line.plan.locality, asked->name);
      asked->read = std::move(*read);
      asked->isLocalized = line.plan.locality.isOn();
    }
    const bool isReady = read && prepare(*asked, protocol, &*facts, options, there->server.url, own);
    if (!isReady) {
      std::string problem = others.str();
      while (problem.ends_with('\n')) problem.pop_back();
      throw Failure(errorAt("query", problem.empty() ? "an error" : problem, "a query that can be sent"));
    }
    remote::RemoteTarget target = *made;
    target.protocol = asked->protocol;
    target.otherwise = protocol == nullptr
                           ? remote::protocolAfter(*asked->protocol, *facts, asked->query, options.seed)
                           : nullptr;
    putPrompt(target, options, own.err);
    isFirst = false;
    if (model) firstRequests.push_back(asked->sent.requests.front());
    return [asked, target, model, simulators, plan, hasNote](remote::HttpClient& ownClient,
                                                             const std::stop_token& stop) {
      std::vector<remote::RemoteTarget> targets{target};
      targets.front().atOnce = 1;
      std::optional<workbench::CacheOrderer> orderer;
      if (model) {
        orderer.emplace(simulators, model->tokenizer, *model->chat);
        orderer->use(*plan);
        orderer->use(targets.front(), false, hasNote);
      }
      LineWatcher watcher(targets.front(), orderer ? &*orderer : nullptr);
      const remote::RemoteResult result =
          remote::runRemotely(ownClient, targets, {}, asked->sent.requests, watcher, stop, asked->sent.calls,
                              asked->sent.messages);
      return lineResult(*asked, result);
    };
  };
  if (model) {
    job.schedule = [&] {
      workbench::CacheOrderer orderer(simulators, model->tokenizer, *model->chat);
      const std::vector<std::size_t> order = orderer.expect(made->name, firstRequests);
      *plan = orderer.plan();
      plan = std::make_shared<std::shared_ptr<const workbench::CacheOrderer::Plan>>();
      firstRequests.clear();
      return order;
    };
  }
  try {
    return runInputs(context, job);
  } catch (const OutputFailure& failure) {
    streams.err << failure.what() << '\n';
    return ExitCode::RunFailed;
  }
}
}  // namespace spanscope::cli
