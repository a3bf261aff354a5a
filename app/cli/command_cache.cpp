// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cache_warm.h"
#include "app/cli/command.h"
#include "app/cli/json_output.h"
#include "app/cli/session_options.h"
#include "app/cli/text_table.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/cache/store/disk_store.h"
#include "engine/cache/store/store_copy.h"
#include "engine/query/shown_text.h"
#include "engine/workbench/run_options.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace spanscope::cli {
namespace {

using cache::PackFault;
using cache::PackSummary;

struct CacheCommandOptions {
  std::string folder;
  std::string model;   ///< of the packs that are cleared
  std::string target;  ///< of an export
  bool json = false;
};

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Opens a store that is there; these commands make none.
cache::DiskStore openStore(const CacheCommandOptions& options) {
  const std::filesystem::path folder =
      options.folder.empty() ? workbench::standardStoreFolder() : std::filesystem::path(options.folder);
  if (!cache::StoreFolder::isThere(folder))
    throw Failure({folder.string(), {}, "no span store", "one, as spanq run --cache-dir makes it"});
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
  const std::int64_t time = now();
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
    const bool isTold = isVerified || pack.fault != PackFault::None;
    table.addRow({pack.name, pack.model,
                  pack.text.empty() ? "–" : query::cutText(pack.text, kShownCharacters),
                  std::to_string(pack.blocks), std::to_string(pack.tokens),
                  fixed(static_cast<double>(pack.bytes) / kKibibyte, 0),
                  pack.storedAt > 0 ? ageText(time - pack.storedAt) : "–", ageText(time - pack.usedAt),
                  isTold ? stateText(pack) : ""});
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
  // What opening it found is gone already.
  const std::vector<Error> problems = store.takeProblems();
  for (const Error& problem : problems) context.streams.err << problem.message() << '\n';
  const std::vector<PackSummary> packs = store.verify();
  writePacks(context, options, store, packs, true);
  bool isSound = problems.empty();
  for (const PackSummary& pack : packs) {
    if (pack.fault == PackFault::None) continue;
    isSound = false;
    const Error problem{(store.folder().packs() / pack.name).string(), {}, stateText(pack), "an intact pack"};
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
  // What was begun is taken back where the copying is stopped; behind it anything may end the program.
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
                       "Folder of the store; without, the user's own in the folder for caches");
  command->callback([&context, options, run] {
    context.action = [&context, options, run] { return run(context, *options); };
  });
  return command;
}

}  // namespace

void addCache(CLI::App& app, Context& context) {
  CLI::App* group =
      app.add_subcommand("cache", "Look after the folder in which keys and values outlive the program");
  group->footer("Example:\n  spanq cache list --cache-dir spans\n");
  group->require_subcommand(1);
  const auto options = std::make_shared<CacheCommandOptions>();
  addSubcommand(*group, context, options, "list", "List what is stored, the last used first", list)
      ->add_flag("--json", options->json, "Write JSON");
  addWarmCommand(*group, context);
  addSubcommand(*group, context, options, "verify", "Read every byte, and remove what is damaged", verify)
      ->add_flag("--json", options->json, "Write JSON");
  CLI::App* exported = addSubcommand(
      *group, context, options, "export",
      "Copy the store, with the secret that its names are made with, into a new folder", exportStore);
  exported->add_option("DIR", options->target, "The new folder")->required();
  exported->footer("Example:\n  spanq cache export --cache-dir spans /media/stick/spans\n");
  addSubcommand(*group, context, options, "clear", "Remove what is stored", clear)
      ->add_option("--of", options->model, "Only what was stored for this model")
      ->type_name("MODEL");
}

}  // namespace spanscope::cli
