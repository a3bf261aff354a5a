// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/command_service.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/base/clock.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/cache/store/disk_store.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/jobs/warming.h"
#include "engine/query/shown_text.h"
#include "engine/run/run_options.h"
#include "engine/trace/event.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job_context.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cli {

namespace {

using cache::PackFault;
using cache::PackSummary;

struct CacheCommandOptions {
  std::string folder;
  std::string model;   ///< model of the packs to clear; empty: all
  std::string target;  ///< folder for an export
  bool json = false;
};

/// Opens an existing store. These commands create no store.
cache::DiskStore openStore(const CacheCommandOptions& options) {
  const std::filesystem::path folder =
      options.folder.empty() ? workbench::standardStoreFolder() : std::filesystem::path(options.folder);
  if (!cache::StoreFolder::isThere(folder))
    throw Failure({folder.string(), {}, "no span store", "a store that spanq run --cache-dir created"});
  return cache::DiskStore({.folder = folder, .limit = std::numeric_limits<std::uint64_t>::max()});
}

/// "3.2 s", "17 min", "5 h", "12 d".
std::string ageText(std::int64_t milliseconds) {
  constexpr double kSecond = 1000;
  constexpr double kMinute = 60 * kSecond;
  constexpr double kHour = 60 * kMinute;
  constexpr double kDay = 24 * kHour;
  const auto age = static_cast<double>(milliseconds < 0 ? 0 : milliseconds);
  if (age < 2 * kMinute) return fixed(age / kSecond, 1) + " s";
  if (age < 2 * kHour) return fixed(age / kMinute, 0) + " min";
  if (age < 2 * kDay) return fixed(age / kHour, 0) + " h";
  return fixed(age / kDay, 0) + " d";
}

std::string stateText(const PackSummary& pack) {
  switch (pack.fault) {
    case PackFault::None:
      return "intact";
    case PackFault::Gone:
      return "gone";
    case PackFault::Unreadable:
      return "cannot be read: " + pack.what;
    case PackFault::OtherVersion:
      return "of another " + pack.what;
    case PackFault::Damaged:
      return "damaged, removed: " + pack.what;
  }
  return {};
}

void writePacks(const Context& context, const CacheCommandOptions& options, const cache::DiskStore& store,
                const std::vector<PackSummary>& packs, bool isVerified) {
  constexpr double kKibibyte = 1 << 10;
  constexpr double kMebibyte = 1 << 20;
  constexpr std::size_t kShownCharacters = 40;
  const std::int64_t time = unixMilliseconds();
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  TextTable table({{"pack", TextTable::Align::Left},
                   {"model", TextTable::Align::Left},
                   {"text", TextTable::Align::Left},
                   {"blocks"},
                   {"tokens"},
                   {"KiB"},
                   {"age"},
                   {"unused"},
                   {isVerified ? "state" : "", TextTable::Align::Left}});
  std::uint64_t blocks = 0;
  std::uint64_t tokens = 0;
  std::uint64_t bytes = 0;
  for (const PackSummary& pack : packs) {
    blocks += pack.blocks;
    tokens += pack.tokens;
    bytes += pack.bytes;
    nlohmann::ordered_json row{{"pack", pack.name},
                               {"tier", "disk"},
                               {"model", pack.model},
                               {"text", pack.text},
                               {"fingerprint", pack.fingerprint},
                               {"blocks", pack.blocks},
                               {"tokens", pack.tokens},
                               {"bytes", pack.bytes},
                               {"age_ms", time - pack.storedAt},
                               {"unused_ms", time - pack.usedAt}};
    if (isVerified || pack.fault != PackFault::None) row["state"] = stateText(pack);
    list.push_back(std::move(row));
    const bool isReported = isVerified || pack.fault != PackFault::None;
    table.addRow({pack.name, pack.model,
                  pack.text.empty() ? "–" : query::cutText(pack.text, kShownCharacters),
                  std::to_string(pack.blocks), std::to_string(pack.tokens),
                  fixed(static_cast<double>(pack.bytes) / kKibibyte, 0),
                  pack.storedAt > 0 ? ageText(time - pack.storedAt) : "–", ageText(time - pack.usedAt),
                  isReported ? stateText(pack) : ""});
  }
  std::ostream& out = context.streams.out;
  if (options.json) {
    const nlohmann::ordered_json json{{"folder", store.folder().path().string()},
                                      {"packs", std::move(list)},
                                      {"blocks", blocks},
                                      {"tokens", tokens},
                                      {"bytes", bytes}};
    out << jsonText(json) << '\n';
    return;
  }
  if (!packs.empty()) out << table.text();
  out << "  " << counted(packs.size(), "pack") << " with " << counted(blocks, "block") << ", "
      << counted(tokens, "token") << ", " << fixed(static_cast<double>(bytes) / kMebibyte, 1) << " MiB in "
      << store.folder().path().string() << '\n';
}

ExitCode list(const Context& context, const CacheCommandOptions& options) {
  cache::DiskStore store = openStore(options);
  for (const Error& problem : store.takeProblems()) context.streams.err << problem.message() << '\n';
  writePacks(context, options, store, store.list(), false);
  return ExitCode::Fine;
}

ExitCode verify(const Context& context, const CacheCommandOptions& options) {
  cache::DiskStore store = openStore(options);
  // Opening the store has already removed all damaged files.
  const std::vector<Error> problems = store.takeProblems();
  for (const Error& problem : problems) context.streams.err << problem.message() << '\n';
  const std::vector<PackSummary> packs = store.verify();
  writePacks(context, options, store, packs, true);
  bool isSound = problems.empty();
  for (const PackSummary& pack : packs) {
    if (pack.fault == PackFault::None) continue;
    isSound = false;
    const Error problem{(store.folder().packs() / pack.name).string(),
                        {},
                        /*id:pack-not-intact*/ "This pack is not intact: " + stateText(pack) + ".",
                        {}};
    context.streams.err << problem.message() << '\n';
  }
  return isSound ? ExitCode::Fine : ExitCode::WrongInput;
}

ExitCode clear(const Context& context, const CacheCommandOptions& options) {
  cache::DiskStore store = openStore(options);
  const std::uint64_t before = store.bytes();
  const std::size_t removed = store.clear(options.model);
  constexpr double kMebibyte = 1 << 20;
  context.streams.out << "removed " << counted(removed, "pack") << ", "
                      << fixed(static_cast<double>(before - store.bytes()) / kMebibyte, 1) << " MiB\n";
  return ExitCode::Fine;
}

ExitCode exportStore(const Context& context, const CacheCommandOptions& options) {
  cache::DiskStore store = openStore(options);
  // A stopped copy removes its unfinished files. After the copy, a signal may end the program at any point.
  const auto endsByItself = [&context](bool does) {
    if (context.streams.endsByItself != nullptr) *context.streams.endsByItself = does;
  };
  endsByItself(true);
  const std::size_t copied = cache::copyStore(
      store, options.target, {.unfinished = context.streams.unfinished, .stop = context.stop});
  endsByItself(false);
  for (const Error& problem : store.takeProblems()) context.streams.err << problem.message() << '\n';
  context.streams.out << "copied " << counted(copied, "pack") << " to " << options.target << '\n';
  return ExitCode::Fine;
}

CLI::App* addSubcommand(CLI::App& group, Context& context,
                        const std::shared_ptr<CacheCommandOptions>& options, const char* name,
                        const char* what, ExitCode (*run)(const Context&, const CacheCommandOptions&)) {
  CLI::App* command = group.add_subcommand(name, what);
  command->footer(std::string("Example:\n  spanq cache ") + name + " --cache-dir spans\n");
  addStoreFolderOption(*command, options->folder,
                       "Folder of the store. Default: spanscope/spans in your cache folder");
  command->callback([&context, options, run] {
    context.action = [&context, options, run] { return run(context, *options); };
  });
  return command;
}

}  // namespace

void addCache(CLI::App& app, Context& context) {
  CLI::App* group = app.add_subcommand("cache", "Manage the folder that keeps keys and values on the disk");
  group->footer("Example:\n  spanq cache list --cache-dir spans\n");
  group->require_subcommand(1);
  const auto options = std::make_shared<CacheCommandOptions>();
  addSubcommand(*group, context, options, "list",
                "List the stored files; the most recently used file is first", list)
      ->add_flag("--json", options->json, "Write JSON");
  addWarmCommand(*group, context);
  addSubcommand(*group, context, options, "verify", "Read every byte, and delete damaged files", verify)
      ->add_flag("--json", options->json, "Write JSON");
  CLI::App* exported =
      addSubcommand(*group, context, options, "export",
                    "Copy the store and the secret of its block keys into a new folder", exportStore);
  exported->add_option("DIR", options->target, "The new folder")->required();
  exported->footer("Example:\n  spanq cache export --cache-dir spans /media/stick/spans\n");
  addSubcommand(*group, context, options, "clear", "Delete stored blocks", clear)
      ->add_option("--of", options->model, "Only blocks of this model")
      ->type_name("MODEL");
}

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostDocumentBytes = 64ULL << 20;

struct CacheWarmOptions {
  std::vector<std::string> files;
  SessionOptions session;
  bool json = false;
};

/// Returns the named files, and all files in the named folders, sorted by name.
std::vector<std::string> documentsOf(const std::vector<std::string>& given) {
  std::vector<std::string> documents;
  for (const std::string& name : given) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      documents.push_back(name);
      continue;
    }
    std::vector<fs::path> inside;
    fs::recursive_directory_iterator entry(name, fs::directory_options::skip_permission_denied, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (entry->is_regular_file(error)) inside.push_back(entry->path());
    }
    if (error) throw Failure({name, {}, error.message(), "a folder that can be read"});
    std::ranges::sort(inside);
    for (const fs::path& path : inside) documents.push_back(path.string());
  }
  return documents;
}

/// Returns the text as a `file` node reads it. Throws Failure.
std::string textOf(const std::string& path) {
  std::string text = checkpoint::readFileBytes(path, kMostDocumentBytes, "a document");
  if (auto narrow = utf8OfWide(text)) {
    if (narrow->firstReplaced) {
      throw Failure(
          {path, "byte " + std::to_string(*narrow->firstReplaced), "an unpaired UTF-16 surrogate", "UTF-8"});
    }
    return std::move(narrow->text);
  }
  if (!isValidUtf8(text)) throw Failure({path, {}, /*id:bytes-no-text*/ "bytes that are not text", "UTF-8"});
  text.erase(0, text.size() - withoutByteOrderMark(text).size());
  return text;
}

class WarmCommand {
 public:
  WarmCommand(const Context& context, const CacheWarmOptions& options)
      : m_context(context), m_options(options) {}

  ExitCode run() {
    std::vector<std::string> documents = documentsOf(m_options.files);
    run::SessionConfig config = m_options.session.config();
    if (!config.store.usesDisk()) {
      config.store.folder = workbench::standardStoreFolder();
      config.store.diskBytes = SessionOptions::kUsualDiskBytes;
    }
    m_model =
        std::make_shared<workbench::ModelBundle>(loadChosenModel(m_options.session, m_context.backends));
    CommandService service(
        m_context,
        {.model = m_model, .session = config, .recorder = m_recorder, .settings = {}, .loadBeside = {}});
    const auto work = std::make_shared<jobs::MeasuringJob<jobs::WarmingJob>>(
        jobs::WarmingChoice{std::move(documents)},
        jobs::JobInput{.settings = m_options.session.settings, .read = textOf});
    const workbench::JobHandle handle = service.carryOut(work, [&] { look(*work->found()); });
    showProgress(m_context, "");
    handle.rethrow();
    write(config);
    if (m_context.stop.stop_requested()) return ExitCode::Stopped;
    if (m_hasStoreFailed) return ExitCode::RunFailed;
    return m_wrong ? ExitCode::WrongInput : ExitCode::Fine;
  }

 private:
  /// Shows new results and errors, and the document that is being computed.
  void look(const jobs::Warming& now) {
    takeEvents();
    for (; m_shown < now.warmed.size(); ++m_shown) show(now.warmed[m_shown], now.documents[m_shown]);
    if (m_shown < now.documents.size()) showProgress(m_context, now.documents[m_shown]);
  }

  void show(const jobs::WarmedDocument& warmed, const std::string& name) {
    if (!warmed.problem.empty()) {
      m_context.streams.err << warmed.problem << '\n';
      m_wrong = true;
      return;
    }
    m_table.addRow({name, std::to_string(warmed.tokens), std::to_string(warmed.storedTokens),
                    fixed(warmed.seconds * kMilliseconds, 1)});
    m_rows.push_back({{"document", name},
                      {"tokens", warmed.tokens},
                      {"stored_before", warmed.storedTokens},
                      {"milliseconds", warmed.seconds * kMilliseconds}});
  }

  /// Keeps the reports of the store, and shows warnings.
  void takeEvents() {
    std::vector<trace::Event> events;
    m_recorder->drain(events);
    for (const trace::Event& event : events) {
      if (const auto* report = std::get_if<trace::StoreReported>(&event.payload)) m_last = *report;
      if (const auto* spilled = std::get_if<trace::BlockSpilled>(&event.payload))
        m_storedBytes += spilled->bytes;
      const auto* message = std::get_if<trace::MessageLogged>(&event.payload);
      if (message == nullptr || message->severity == Severity::Note) continue;
      m_context.streams.err << message->text << '\n';
      m_hasStoreFailed = true;
    }
  }

  void write(const run::SessionConfig& config) const {
    std::ostream& out = m_context.streams.out;
    const trace::StoreTierState disk =
        m_last && !m_last->tiers.empty() ? m_last->tiers.back() : trace::StoreTierState{};
    if (m_options.json) {
      nlohmann::ordered_json json{{"model", m_model->name},
                                  {"device", m_model->backend->info().name},
                                  {"folder", config.store.folder.string()},
                                  {"documents", m_rows},
                                  {"stored_bytes", m_storedBytes},
                                  {"blocks", disk.blocks},
                                  {"bytes", disk.bytes},
                                  {"limit", disk.limit}};
      out << jsonText(json) << '\n';
      return;
    }
    constexpr double kMebibyte = 1 << 20;
    out << m_table.text() << "  " << m_model->name << ", " << m_model->backend->info().name << ": "
        << fixed(static_cast<double>(m_storedBytes) / kMebibyte, 1) << " MiB stored in "
        << config.store.folder.string() << ", which has " << counted(disk.blocks, "block") << " in "
        << fixed(static_cast<double>(disk.bytes) / kMebibyte, 1) << " MiB of "
        << fixed(static_cast<double>(disk.limit) / kMebibyte, 0) << " MiB\n";
  }

  const Context& m_context;
  const CacheWarmOptions& m_options;
  std::shared_ptr<trace::Recorder> m_recorder = std::make_shared<trace::Recorder>();
  std::shared_ptr<workbench::ModelBundle> m_model;
  TextTable m_table{{{"document", TextTable::Align::Left}, {"tokens"}, {"stored before"}, {"ms"}}};
  nlohmann::ordered_json m_rows = nlohmann::ordered_json::array();
  std::size_t m_shown = 0;  ///< number of documents whose result was shown
  std::optional<trace::StoreReported> m_last;
  std::uint64_t m_storedBytes = 0;
  bool m_hasStoreFailed = false;
  bool m_wrong = false;
};

}  // namespace

void addWarmCommand(CLI::App& group, Context& context) {
  CLI::App* command = group.add_subcommand("warm",
                                           "Compute and store documents in advance. A query reuses the "
                                           "stored blocks if such a document is a user message under a plus");
  command->footer(
      "Example:\n  spanq cache warm --cache-dir spans docs/*.txt\n"
      "  spanq run --cache-dir spans question.json\n");
  const auto options = std::make_shared<CacheWarmOptions>();
  command->add_option("FILE", options->files, "Documents in UTF-8, or folders")->required();
  workbench::RunSettings& settings = options->session.settings;
  addSettings(*command, settings, {"model", "chat_template", "template_variables"});
  addSettings(*command, settings, {"prompt_layout"});
  addSettings(
      *command, settings,
      {"adapter", "context", "device", "exact", "arithmetic", "threads", "block_size", "blocks", "kv_type"});
  addStoreFolderOption(*command, options->session.cacheFolder,
                       "Folder of the store. Default: spanscope/spans in your cache folder");
  addSettings(*command, settings, {"cache_disk_mib"});
  command->add_flag("--json", options->json, "Write JSON");
  command->callback([&context, options] {
    options->session.check();
    context.action = [&context, options] { return WarmCommand(context, *options).run(); };
  });
}

}  // namespace spanscope::cli
