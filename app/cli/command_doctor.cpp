// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq doctor`: diagnoses logs of requests.
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/command_service.h"
#include "app/cli/input.h"
#include "app/cli/option_values.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/base/problem_sentence.h"
#include "engine/base/utf8.h"
#include "engine/doctor/doctor.h"
#include "engine/doctor/quality.h"
#include "engine/doctor/redaction.h"
#include "engine/doctor/report.h"
#include "engine/doctor/span_query.h"
#include "engine/jobs/log_quality.h"
#include "engine/query/json/json.h"
#include "engine/simulator/servers.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/document_text.h"
#include "engine/workbench/finder/named_models.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/speed_records.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

constexpr std::size_t kMaxInputBytes = std::size_t{1} << 28U;  // of standard input, which is kept in memory

struct DoctorCommandOptions {
  std::vector<std::string> files;
  SessionOptions session;
  bool usesModel = false;
  std::optional<std::uint64_t> quality;  ///< requests of the sample
  doctor::DoctorOptions doctor;
  std::optional<std::uint64_t> blocks;
  std::optional<std::int32_t> blockSize;
  std::optional<std::int32_t> slots;
  std::uint64_t repeats = 64;
  doctor::Prices prices;
  bool json = false;
  std::string csv;
  std::string html;
  std::string markdown;
  std::string edited;
  std::string spans;
  std::optional<std::uint64_t> spansOf;  ///< number of a request, from 1
  bool asTemplate = false;
  std::string failIfLost;
  std::optional<double> mostLost;  ///< a share from 0 to 1
};

/// "10%", "10 %" or "0.1".
std::optional<double> parseShare(std::string_view text) {
  text = trimmed(text);
  const bool isPercent = text.ends_with('%');
  if (isPercent) text = trimmed(text.substr(0, text.size() - 1));
  const std::optional<double> number = parseDecimal(text);
  if (!number) return {};
  const double share = isPercent ? *number / 100 : *number;
  return share >= 0 && share <= 1 ? std::optional(share) : std::nullopt;
}

std::string requestTable(const doctor::LogReport& report) {
  std::string text;
  for (const std::vector<std::size_t>& group : doctor::byConversation(report)) {
    text += "Conversation " + std::to_string(report.requests[group.front()].conversation + 1) + ": " +
            counted(group.size(), "request") + "\n";
    TextTable table({{"request", TextTable::Align::Left},
                     {"cached"},
                     {"could be"},
                     {"reported"},
                     {"lost"},
                     {"first difference", TextTable::Align::Left},
                     {"change", TextTable::Align::Left},
                     {"cause", TextTable::Align::Left}});
    for (const std::size_t index : group) {
      const doctor::RequestRow row = doctor::rowOf(report, report.requests[index]);
      table.addRow(
          {row.place, row.cached, row.could, row.reported, row.lost, row.difference, row.change, row.cause});
    }
    text += table.text();
  }
  return text;
}

std::string causeTable(const doctor::LogReport& report, const doctor::Prices& prices) {
  if (report.causes.empty()) return "No request lost tokens.\n";
  TextTable table({{"cause", TextTable::Align::Left},
                   {"requests"},
                   {"lost"},
                   {"change that helps", TextTable::Align::Left}});
  for (const doctor::CauseTotal& total : report.causes) {
    const doctor::Cause& cause = doctor::causeOf(total.cause);
    table.addRow(
        {cause.sentence, std::to_string(total.requests), doctor::costText(total.lost, prices), cause.cure});
  }
  return "Causes by cost\n" + table.text();
}

std::string wayTable(const doctor::LogReport& report, const doctor::Prices& prices) {
  const bool hasQuality =
      std::ranges::any_of(report.ways, [](const auto& way) { return way.quality.has_value(); });
  std::vector<TextTable::Column> columns{{"way", TextTable::Align::Left}, {"prompt tokens"}, {"computed"}};
  if (hasQuality) columns.push_back({"quality", TextTable::Align::Left});
  TextTable table(std::move(columns));
  for (const doctor::Way& way : report.ways) {
    std::vector<std::string> cells{way.name, std::to_string(way.prompt),
                                   doctor::costText(way.computed, prices)};
    if (hasQuality) cells.push_back(doctor::qualityText(way.quality));
    table.addRow(std::move(cells));
  }
  const std::string note = doctor::qualityNote(report);
  return "Cost of each way to send this log\n" + table.text() + (note.empty() ? note : note + "\n");
}

class DoctorCommand {
 public:
  DoctorCommand(const Context& context, const DoctorCommandOptions& options)
      : m_context(context), m_options(options) {}

  ExitCode run() {
    std::vector<doctor::LogSource> sources;
    for (const std::string& file : m_options.files) {
      doctor::LogSource source{.name = inputName(file)};
      if (file == "-") {
        source.text = readInput(file, m_context.streams, kMaxInputBytes);
      } else {
        source.path = file;
      }
      sources.push_back(std::move(source));
      if (const auto identity = identityOf(file)) m_inputs.push_back(*identity);
    }
    const doctor::LogReader log(std::move(sources));
    const std::unique_ptr<doctor::PromptTokenizer> tokenizer =
        m_options.usesModel ? doctor::makeModelTokenizer(modelOf(log)) : doctor::makeEstimate();
    doctor::DoctorOptions options = m_options.doctor;
    std::optional<OutputFile> edited;
    if (!m_options.edited.empty()) {
      edited.emplace(m_options.edited, rules());
      options.takeEdited = [&edited](const doctor::LoggedRequest& request) {
        const std::string line = doctor::chatLineOf(request) + "\n";
        edited->write({reinterpret_cast<const std::uint8_t*>(line.data()), line.size()});
      };
    }
    doctor::LogReport report = diagnose(log, *tokenizer, options, m_context.stop);
    if (report.isStopped) return ExitCode::Stopped;
    if (m_options.quality && isQualityStopped(log, report)) return ExitCode::Stopped;
    if (edited) edited->commit();
    for (const doctor::LogProblem& problem : report.problems)
      m_context.streams.err << report.files[problem.file] << ":" << problem.line << ": "
                            << problemSentence(problem.found, {}) << '\n';
    if (report.requests.empty())
      throw Failure({report.files.front(), {}, "no request", "a log with requests to a model"});
    write(m_options.csv, doctor::csvReport(report));
    write(m_options.html, doctor::htmlReport(report, m_options.prices));
    write(m_options.markdown, doctor::markdownReport(report, m_options.prices));
    if (m_options.json) {
      m_context.streams.out << doctor::jsonReport(report, m_options.prices);
    } else {
      writeText(report);
    }
    if (!m_options.spans.empty()) writeSpans(log, report);
    if (m_options.mostLost && report.lostShare() > *m_options.mostLost) {
      m_context.streams.err << "lost " << doctor::shareText(report.lostShare())
                            << " of all prompt tokens; the limit is "
                            << doctor::shareText(*m_options.mostLost) << '\n';
      return ExitCode::WrongInput;
    }
    return ExitCode::Fine;
  }

 private:
  std::filesystem::path modelOf(const doctor::LogReader& log) const {
    if (m_options.session.settings.model != "auto") return modelDirectory(m_options.session);
    const std::string name = doctor::modelNameOf(log, m_context.stop);
    if (const auto found = workbench::modelNamed(workbench::modelPlaces(workbench::foldersOfUser()), name))
      return *found;
    throw Failure({"--model auto",
                   {},
                   name.empty()
                       ? std::string("a log that names no model")
                       : "a log whose model \"" + doctor::redacted(name) + "\" is not on this machine",
                   "--model MODEL"});
  }
  /// Measures the ways on a sample of requests. Returns whether the measurement was stopped.
  bool isQualityStopped(const doctor::LogReader& log, doctor::LogReport& report) const {
    jobs::LogQualityRequest request = jobs::logQualityRequest(
        report,
        doctor::qualitySample(log, report, static_cast<std::size_t>(*m_options.quality), m_context.stop));
    if (m_context.stop.stop_requested()) return true;
    if (const char* reason = jobs::LogQualityJob::unavailableReason(request.choice, {}); reason != nullptr) {
      m_context.streams.err << reason << '\n';
      return false;
    }
    SessionOptions session = m_options.session;
    session.settings.model = modelOf(log).string();
    jobs::JobInput input{.settings = session.settings,
                         .read = std::move(request.read),
                         .paces = std::make_shared<workbench::SpeedRecords>(m_context.streams.paceFile)};
    jobs::LogQualityChoice choice = jobs::LogQualityJob::completed(std::move(request.choice), input);
    const auto model = std::make_shared<workbench::ModelBundle>(loadChosenModel(session, m_context.backends));
    CommandService service(m_context, ownModel(model, session));
    const auto job =
        std::make_shared<jobs::MeasuringJob<jobs::LogQualityJob>>(std::move(choice), std::move(input));
    const workbench::JobHandle handle = service.carryOut(job, [&] {
      showProgress(m_context, "Quality: " + std::to_string(static_cast<int>(100 * job->share())) + " %");
    });
    showProgress(m_context, "");
    if (handle.state() == workbench::JobState::Stopped) return true;
    handle.rethrow();
    for (const std::string& line : job->found()->problems()) m_context.streams.err << line << '\n';
    job->found()->apply(report);
    return false;
  }

  OutputRules rules() const {
    return {.inputs = m_inputs, .unfinished = m_context.streams.unfinished, .stop = m_context.stop};
  }

  void write(const std::string& path, const std::string& text) const {
    if (path.empty()) return;
    if (const auto error = writeFile(path, text, rules())) throw OutputFailure(*error);
  }

  /// Writes a request as a query with the usual proposals, and lists all proposals.
  void writeSpans(const doctor::LogReader& log, const doctor::LogReport& report) const {
    std::size_t number = 0;
    if (m_options.spansOf) {
      if (*m_options.spansOf > report.requests.size())
        refuseOption("--spans-of", std::to_string(*m_options.spansOf),
                     "a number up to " + std::to_string(report.requests.size()));
      number = static_cast<std::size_t>(*m_options.spansOf - 1);
    } else {
      // The request with the most repeated tokens shows the most.
      for (std::size_t i = 0; i < report.requests.size(); ++i)
        if (report.requests[i].repeated > report.requests[number].repeated) number = i;
    }
    const doctor::LoggedRequest request = log.again(report.requests[number].place);
    const doctor::PartCounts counts = doctor::countParts(log, m_context.stop);
    const std::vector<doctor::SpanProposal> proposals = doctor::proposeSpans(request, counts);
    std::vector<doctor::SpanProposal> accepted;
    TextTable table({{"parts", TextTable::Align::Left},
                     {"tokens"},
                     {"in other requests"},
                     {"risk", TextTable::Align::Left},
                     {"spans", TextTable::Align::Left}});
    for (const doctor::SpanProposal& one : proposals) {
      if (one.byDefault) accepted.push_back(one);
      table.addRow({one.name, std::to_string(one.tokens),
                    std::to_string(one.shared) + " of " + std::to_string(one.parts), "not measured",
                    one.byDefault ? "yes" : "no"});
    }
    const doctor::SpanQuery made = m_options.asTemplate ? doctor::templateOf(request, counts, accepted)
                                                        : doctor::queryOf(request, accepted);
    if (m_options.spans.ends_with(".span")) {
      document::Document document = document::fromQuery(made.query);
      document.declarations = made.parameters;
      write(m_options.spans, document::writeDocument(document));
    } else {
      write(m_options.spans, query::writePretty(made.query));
    }
    if (m_options.json) return;
    m_context.streams.out << "Request " << number + 1 << " as a query with spans: " << m_options.spans
                          << '\n';
    if (proposals.empty())
      m_context.streams.out << "No part of the request can become spans.\n";
    else
      m_context.streams.out << table.text()
                            << "Answers can change with spans. Measure this risk on a model: spanq model "
                               "probe --documents FILE\n";
  }

  void writeText(const doctor::LogReport& report) const {
    std::ostream& out = m_context.streams.out;
    out << "Server: " << report.server << '\n'
        << "Tokens: " << report.tokens << (report.isEstimated ? " (--model MODEL gives exact counts)" : "")
        << '\n'
        << requestTable(report) << causeTable(report, m_options.prices) << wayTable(report, m_options.prices)
        << "In all: " << counted(report.requests.size() - report.refused, "request") << ", " << report.cached
        << " of " << report.prompt << " prompt tokens cached, "
        << doctor::costText(report.lost, m_options.prices) << " lost ("
        << doctor::shareText(report.lostShare()) << ")" << (report.isEstimated ? ", estimated" : "") << '\n';
    if (report.refused > 0) out << "Failed and not counted: " << counted(report.refused, "request") << '\n';
    if (report.problemCount > 0)
      out << "Skipped or incomplete: " << counted(report.problemCount, "record") << '\n';
  }

  const Context& m_context;
  const DoctorCommandOptions& m_options;
  std::vector<FileIdentity> m_inputs;
};

}  // namespace

void addDoctor(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("doctor", "Show why the prompts of a log missed the cache");
  command->footer(
      R"(Examples:
  spanq doctor requests.jsonl
  spanq doctor --model MODEL --html report.html recording.har
  spanq doctor --server sglang --blocks 4096 --ttl 300 requests.jsonl
  spanq doctor before.json after.json
  spanq doctor --to-spans query.span --template requests.jsonl
  spanq doctor --fail-if-lost 10% requests.jsonl
)");
  const auto options = std::make_shared<DoctorCommandOptions>();
  command
      ->add_option("LOG", options->files,
                   "Request logs: JSON, JSON lines, HAR, curl commands, OpenTelemetry spans, transcripts of "
                   "coding agents, "
                   "or traces of a gateway; - is standard input")
      ->required();
  command
      ->add_option("--model", options->session.settings.model,
                   "Model folder or GGUF file of the tokenizer; auto: the model that the log names. "
                   "Default: token counts are estimates")
      ->type_name("MODEL");
  command
      ->add_option("--server", options->doctor.server,
                   "Server whose caching rules apply (default: the server of the log, or else vllm)")
      ->check(oneOf(simulator::serverNames()));
  addNumber(*command, "--blocks", options->blocks,
            "Number of blocks in the server's pool (default: no limit)",
            Range<std::uint64_t>{1, std::uint64_t{1} << 24U});
  addNumber(*command, "--block-size", options->blockSize,
            "Tokens per block (default: the default of the server)", Range<std::int32_t>{1, 1 << 16});
  addNumber(*command, "--slots", options->slots, "Number of slots of llama-server (-np)",
            Range<std::int32_t>{1, 4096});
  addNumber(*command, "--ttl", options->doctor.timeToLive,
            "Seconds from the last use of cached tokens until these tokens expire (default: as the requests "
            "state, or else never)",
            Range<double>{0, 1e9});
  addNumber(*command, "--repeats", options->repeats, "Min tokens of a text that counts as repeated",
            Range<std::uint64_t>{8, 1 << 16});
  addNumber(*command, "--quality", options->quality,
            "Measure how much edits and spans change answers, on at most this number of requests (needs "
            "--model)",
            Range<std::uint64_t>{1, 1000});
  addNumber(*command, "--speed", options->prices.tokensPerSecond,
            "Prefill speed in tokens per second, to show the time of lost tokens", Range<double>{0.001, 1e9});
  addNumber(*command, "--price", options->prices.perMillion,
            "Price of a million computed tokens, to show the price of lost tokens", Range<double>{0, 1e9});
  command->add_flag("--json", options->json, "Write JSON");
  command->add_option("--csv", options->csv, "Write a table of the requests as CSV to this file")
      ->type_name("FILE");
  command->add_option("--html", options->html, "Write a report as a web page to this file")
      ->type_name("FILE");
  command->add_option("--markdown", options->markdown, "Write a report in Markdown to this file")
      ->type_name("FILE");
  command
      ->add_option("--edited", options->edited,
                   "Write the requests with the proposed edits to this file, as JSON lines")
      ->type_name("FILE");
  command
      ->add_option("--to-spans", options->spans,
                   "Write one request as a query with spans to this file. A name that ends with .span gives "
                   "a query file of the window, else JSON")
      ->type_name("FILE");
  addNumber(
      *command, "--spans-of", options->spansOf,
      "Number of the request for --to-spans, from 1 (default: the request with the most repeated tokens)",
      Range<std::uint64_t>{1, std::uint64_t{1} << 32U});
  command->add_flag(
      "--template", options->asTemplate,
      "With --to-spans: turn a part into a parameter if fewer than half of the requests contain the part");
  command
      ->add_option("--fail-if-lost", options->failIfLost,
                   "Exit with 1 if more than this share of the prompt tokens is lost: 10% or 0.1")
      ->type_name("SHARE");
  command->callback([&context, options, command] {
    options->usesModel = command->count("--model") > 0;
    if (options->quality && !options->usesModel)
      refuseOption("--quality", "no option --model", "--model MODEL");
    options->doctor.blocks = static_cast<std::int64_t>(options->blocks.value_or(0));
    options->doctor.blockSize = options->blockSize.value_or(0);
    options->doctor.slots = options->slots.value_or(0);
    options->doctor.repeatTokens = static_cast<std::size_t>(options->repeats);
    if (options->slots && options->doctor.server != "llama.cpp")
      refuseOption("--server " + options->doctor.server, "--slots", "--server llama.cpp");
    if (options->blockSize && options->doctor.server == "llama.cpp")
      refuseOption("--server llama.cpp", "--block-size", "--server vllm or --server sglang");
    if (options->spans.empty() && (options->spansOf || options->asTemplate))
      refuseOption(options->asTemplate ? "--template" : "--spans-of", "no option --to-spans",
                   "--to-spans FILE");
    if (!options->failIfLost.empty()) {
      options->mostLost = parseShare(options->failIfLost);
      if (!options->mostLost) refuseOption("--fail-if-lost", options->failIfLost, "a share from 0% to 100%");
    }
    context.action = [&context, options] { return DoctorCommand(context, *options).run(); };
  });
}

}  // namespace spanscope::cli
