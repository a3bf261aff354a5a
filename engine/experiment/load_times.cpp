// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/load_times.h"

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/layout/span_table.h"
#include "engine/run/run_options.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <system_error>
#include <utility>

namespace spanscope::experiment {

namespace {

using Clock = std::chrono::steady_clock;

/// Adds up the loaded bytes, tokens and seconds.
class LoadSink final : public trace::Sink {
 public:
  std::uint64_t send(RunId, RequestId, const NodePath&, trace::Payload payload) override {
    if (const auto* loaded = std::get_if<trace::BlockLoaded>(&payload)) {
      nanoseconds += loaded->nanoseconds;
      bytes += loaded->bytes;
      tokens += loaded->tokens;
    }
    return ++m_sequence;
  }
  void reset() { nanoseconds = tokens = 0, bytes = 0; }

  std::int64_t nanoseconds = 0;
  std::int64_t tokens = 0;
  std::uint64_t bytes = 0;

 private:
  std::uint64_t m_sequence = 0;
};

layout::SpanTable document(std::int32_t tokens, std::int32_t vocabularySize, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<TokenId> ids(0, vocabularySize - 1);
  layout::SpanTable table;
  layout::Segment& segment = table.segments.emplace_back();
  segment.independent = true;
  segment.scope = 1;
  segment.depth = 1;
  for (std::int32_t i = 0; i < tokens; ++i) segment.tokens.push_back(ids(random));
  segment.runs = {{.count = tokens, .source = layout::TokenRun::Source::Text, .node = {}}};
  return table;
}

class Samples {
 public:
  void take(run::Session& session, LoadSink& sink, const layout::SpanTable& table,
            const std::stop_token& stop) {
    sink.reset();
    const Clock::time_point begin = Clock::now();
    session.logits({.table = table}, stop);
    m_seconds.push_back(secondsSince(begin));
    constexpr double kNanoseconds = 1e9;
    m_loading.push_back(static_cast<double>(sink.nanoseconds) / kNanoseconds);
    m_bytes = sink.bytes;
    m_tokens = sink.tokens;
  }
  LoadCase summary() && {
    return {.seconds = summarize(std::move(m_seconds)),
            .loading = summarize(std::move(m_loading)),
            .bytes = m_bytes,
            .tokens = m_tokens};
  }

 private:
  std::vector<double> m_seconds;
  std::vector<double> m_loading;
  std::uint64_t m_bytes = 0;
  std::int64_t m_tokens = 0;
};

/// Asks the system to read the files from the disk the next time. No process may have these files mapped.
void forgetFiles(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "packs", error)) {
    const int file = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

}  // namespace

TokenAmount loadAmount(const LoadOptions& options) {
  // The whole document is computed once to warm up, for each repeat, and for each stored document.
  const std::int64_t whole = 1 + options.repeats + std::max(2, options.repeats);
  // The last token of a loaded document is computed.
  const std::int64_t loaded = 2 + 2 * std::int64_t{options.repeats} + 1 + 2 * std::int64_t{options.repeats};
  const std::int64_t tokens = whole * options.tokens + loaded;
  return {.prompt = {tokens, tokens}, .generated = {}};
}

LoadTimes measureLoadTimes(const SessionMaker& make, const run::SessionConfig& config,
                           std::int32_t vocabularySize, const LoadOptions& options, std::stop_token stop) {
  constexpr std::uint64_t kPlenty = 1ULL << 40;
  const layout::SpanTable table = document(options.tokens, vocabularySize, options.seed);
  const layout::SpanTable other = document(options.tokens, vocabularySize, options.seed + 1);
  run::SessionConfig plain = config;
  plain.blockCount = 1 + (options.tokens + config.blockSize - 1) / config.blockSize;
  plain.store = {};
  LoadSink sink;
  LoadTimes times;
  {
    const std::unique_ptr<run::Session> session = make(plain, sink);
    session->logits({.table = other}, stop);  // brings weights and tables into memory
    Samples computed;
    for (std::int32_t i = 0; i < options.repeats; ++i) {
      pass(options.seam);
      session->clearCache();
      computed.take(*session, sink, table, stop);
    }
    times.computed = std::move(computed).summary();
  }
  run::SessionConfig stored = plain;
  stored.store.folder = options.folder;
  stored.store.diskBytes = kPlenty;
  {
    const std::unique_ptr<run::Session> session = make(stored, sink);
    std::vector<double> storing;
    const auto store = [&](const layout::SpanTable& kept) {
      pass(options.seam);
      session->clearCache();
      session->logits({.table = kept}, stop);
      const Clock::time_point begin = Clock::now();
      session->keepAll();
      storing.push_back(secondsSince(begin));
    };
    store(table);
    store(other);
    for (std::int32_t i = 2; i < options.repeats; ++i)
      store(document(options.tokens, vocabularySize, options.seed + static_cast<std::uint64_t>(i)));
    times.storing = summarize(std::move(storing));
  }
  // These sessions compute no prompt. The sessions therefore have no computing time to compare with, and
  // never give up loading.
  {
    run::SessionConfig kept = stored;
    kept.store.hostBytes = kPlenty;
    const std::unique_ptr<run::Session> session = make(kept, sink);
    session->logits({.table = table}, stop);
    session->logits({.table = other}, stop);
    Samples host;
    for (std::int32_t i = 0; i < options.repeats; ++i) {
      pass(options.seam);
      host.take(*session, sink, table, stop);
      session->logits({.table = other}, stop);
    }
    times.host = std::move(host).summary();
  }
  const std::unique_ptr<run::Session> session = make(stored, sink);
  Samples disk;
  Samples cold;
  session->clearCache();
  session->logits({.table = table}, stop);
  for (std::int32_t i = 0; i < options.repeats; ++i) {
    pass(options.seam);
    session->clearCache();
    disk.take(*session, sink, table, stop);
    pass(options.seam);
    session->clearCache();
    forgetFiles(options.folder);
    cold.take(*session, sink, table, stop);
  }
  times.disk = std::move(disk).summary();
  times.coldDisk = std::move(cold).summary();
  return times;
}

std::filesystem::path scratchPlace(const std::filesystem::path& asked, const std::filesystem::path& usual) {
  constexpr const char* kExpected = "a folder in which blocks can be stored temporarily";
  std::error_code error;
  if (asked.empty() && usual.empty())
    throw Failure(errorAt("folder", "no folder for the stored blocks", kExpected));
  if (!asked.empty() && !std::filesystem::is_directory(asked, error))
    throw Failure({asked.string(), {}, "not a folder", kExpected});
  return asked.empty() ? usual : asked;
}

ScratchFolder::ScratchFolder(const std::filesystem::path& parent)
    : m_path(parent /
             ("bench-" + std::to_string(::getpid()) + "-" + std::to_string(std::random_device()()))) {}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(m_path, error);
}

}  // namespace spanscope::experiment
