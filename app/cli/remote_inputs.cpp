// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/remote_inputs.h"

#include "app/cli/bench_report.h"
#include "app/cli/input.h"
#include "app/cli/job_journal.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <ostream>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

using LineJson = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostInputBytes = std::size_t{1} << 30U;

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
  const LineJson json = LineJson::parse(line.text, nullptr, false);
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

std::string lineText(const LineJson& json) {
  return json.dump(-1, ' ', false, LineJson::error_handler_t::replace);
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
    const double seconds = std::chrono::duration<double>(Clock::now() - m_begin).count();
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

}  // namespace

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

}  // namespace spanscope::cli
