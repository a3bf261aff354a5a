// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cache_warm.h"

#include "app/cli/bench_report.h"
#include "app/cli/session_options.h"
#include "app/cli/text_table.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/checkpoint/file_bytes.h"
#include "engine/run/logits_request.h"
#include "engine/run/session_config.h"
#include "engine/trace/event.h"
#include "engine/trace/sink.h"
#include "engine/workbench/document_spans.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/setting_values.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostDocumentBytes = 64ULL << 20;

struct CacheWarmOptions {
  std::vector<std::string> files;
  SessionOptions session;
  bool json = false;
};

/// Keeps what the store says of itself, and shows warnings.
class StoreSink final : public trace::Sink {
 public:
  explicit StoreSink(std::ostream& err) : m_err(err) {}

  std::uint64_t send(RunId, RequestId, const NodePath&, trace::Payload payload) override {
    if (auto* report = std::get_if<trace::StoreReported>(&payload)) last = std::move(*report);
    if (const auto* spilled = std::get_if<trace::BlockSpilled>(&payload)) storedBytes += spilled->bytes;
    if (const auto* message = std::get_if<trace::MessageLogged>(&payload)) {
      if (message->severity != Severity::Note) m_err << message->text << '\n';
      failed = failed || message->severity != Severity::Note;
    }
    return ++m_sequence;
  }

  std::optional<trace::StoreReported> last;
  std::uint64_t storedBytes = 0;
  bool failed = false;

 private:
  std::ostream& m_err;
  std::uint64_t m_sequence = 0;
};

/// The files that were named, and all in the folders that were, by their names.
std::vector<fs::path> documentsOf(const std::vector<std::string>& given) {
  std::vector<fs::path> documents;
  for (const std::string& name : given) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      documents.emplace_back(name);
      continue;
    }
    std::vector<fs::path> inside;
    fs::recursive_directory_iterator entry(name, fs::directory_options::skip_permission_denied, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (entry->is_regular_file(error)) inside.push_back(entry->path());
    }
    if (error) throw Failure({name, {}, error.message(), "a folder that can be read"});
    std::sort(inside.begin(), inside.end());
    documents.insert(documents.end(), inside.begin(), inside.end());
  }
  return documents;
}

/// The text as a `file` node gives it; nothing if it is none.
std::optional<std::string> textOf(const fs::path& path) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::string text = checkpoint::readFileBytes(path, kMostDocumentBytes, "a document");
  if (!isValidUtf8(text)) return std::nullopt;
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

class WarmCommand {
 public:
  WarmCommand(const Context& context, const CacheWarmOptions& options)
      : m_context(context), m_options(options), m_sink(context.streams.err) {}

  ExitCode run() {
    const std::vector<fs::path> documents = documentsOf(m_options.files);
    run::SessionConfig config = m_options.session.config();
    if (!config.store.usesDisk()) {
      config.store.folder = workbench::standardStoreFolder();
      config.store.diskBytes = SessionOptions::kUsualDiskBytes;
    }
    m_model =
        std::make_unique<workbench::ModelBundle>(loadChosenModel(m_options.session, m_context.backends));
    m_session = workbench::makeSession(*m_model, config, m_sink);
    for (const fs::path& document : documents) {
      if (m_context.stop.stop_requested()) break;
      showProgress(m_context, document.string());
      warm(document);
      m_session->startKeeping();
    }
    m_session->keepAll(m_context.stop);
    showProgress(m_context, "");
    write(config);
    if (m_context.stop.stop_requested()) return ExitCode::Stopped;
    if (m_sink.failed) return ExitCode::RunFailed;
    return m_wrong ? ExitCode::WrongInput : ExitCode::Fine;
  }

 private:
  void warm(const fs::path& document) {
    try {
      const std::optional<std::string> text = textOf(document);
      if (!text) throw Failure({document.string(), {}, "bytes that are no text", "UTF-8"});
      const auto begin = std::chrono::steady_clock::now();
      std::int64_t tokens = 0;
      std::int64_t stored = 0;
      for (const layout::SpanTable& span :
           workbench::documentSpans(*text, *m_model->tokenizer, *m_model->chat,
                                    workbench::layoutOf(m_options.session.settings.layout),
                                    m_options.session.config().blockSize)) {
        const run::LogitsResult result = m_session->logits({.table = span}, m_context.stop);
        tokens += span.tokenCount();
        // A prompt's last token is computed whatever is stored.
        const bool wasThere = span.tokenCount() > 1 && result.cachedTokens + 1 == span.tokenCount();
        stored += wasThere ? span.tokenCount() : result.cachedTokens;
      }
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      m_table.addRow({document.string(), std::to_string(tokens), std::to_string(stored),
                      fixed(seconds.count() * kMilliseconds, 1)});
      m_rows.push_back({{"document", document.string()},
                        {"tokens", tokens},
                        {"stored_before", stored},
                        {"milliseconds", seconds.count() * kMilliseconds}});
    } catch (const Failure& failure) {
      if (m_context.stop.stop_requested()) return;
      m_context.streams.err << failure.what() << '\n';
      m_wrong = true;
    }
  }

  void write(const run::SessionConfig& config) const {
    std::ostream& out = m_context.streams.out;
    const trace::StoreTierState disk =
        m_sink.last && !m_sink.last->tiers.empty() ? m_sink.last->tiers.back() : trace::StoreTierState{};
    if (m_options.json) {
      nlohmann::ordered_json json{{"model", m_model->name},
                                  {"device", m_model->backend->info().name},
                                  {"folder", config.store.folder.string()},
                                  {"documents", m_rows},
                                  {"stored_bytes", m_sink.storedBytes},
                                  {"blocks", disk.blocks},
                                  {"bytes", disk.bytes},
                                  {"limit", disk.limit}};
      out << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
      return;
    }
    constexpr double kMebibyte = 1 << 20;
    out << m_table.text() << "  " << m_model->name << ", " << m_model->backend->info().name << ": "
        << fixed(static_cast<double>(m_sink.storedBytes) / kMebibyte, 1) << " MiB stored in "
        << config.store.folder.string() << ", which has " << counted(disk.blocks, "block") << " in "
        << fixed(static_cast<double>(disk.bytes) / kMebibyte, 1) << " MiB of "
        << fixed(static_cast<double>(disk.limit) / kMebibyte, 0) << " MiB\n";
  }

  const Context& m_context;
  const CacheWarmOptions& m_options;
  StoreSink m_sink;
  std::unique_ptr<workbench::ModelBundle> m_model;
  std::unique_ptr<run::Session> m_session;
  TextTable m_table{{{"document", TextTable::Align::Left}, {"tokens"}, {"stored before"}, {"ms"}}};
  nlohmann::ordered_json m_rows = nlohmann::ordered_json::array();
  bool m_wrong = false;
};

}  // namespace

void addWarmCommand(CLI::App& group, Context& context) {
  CLI::App* command = group.add_subcommand(
      "warm",
      "Compute documents ahead of any question and store them: queries that have one of them as a "
      "user's message under plus find it then");
  command->footer(
      "Example:\n  spanq cache warm --cache-dir spans docs/*.txt\n"
      "  spanq run --cache-dir spans question.json\n");
  const auto options = std::make_shared<CacheWarmOptions>();
  command->add_option("FILE", options->files, "Documents in UTF-8, or folders of them")->required();
  workbench::RunSettings& settings = options->session.settings;
  addSettings(*command, settings, {"model"});
  addTemplateOption(*command, options->session.chatTemplate);
  addSettings(*command, settings, {"prompt_layout"});
  addSettings(*command, settings, {"device", "exact", "threads", "block_size", "blocks", "kv_type"});
  addStoreFolderOption(*command, options->session.cacheFolder,
                       "Folder of the store; without, the user's own in the folder for caches");
  addSettings(*command, settings, {"cache_disk_mib"});
  command->add_flag("--json", options->json, "Write JSON");
  command->callback([&context, options] {
    options->session.check();
    context.action = [&context, options] { return WarmCommand(context, *options).run(); };
  });
}

}  // namespace spanscope::cli
