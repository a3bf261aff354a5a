// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/summary_tree.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"

#include <algorithm>
#include <utility>

namespace spanscope::retrieve {
namespace {

/// Number of summaries in one request, so that these summaries share forward passes.
constexpr std::size_t kBatch = 8;

/// Passages [begin, end) of the level below.
struct Group {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string key;
};

std::string keyOf(std::span<const Passage> texts, const std::string& fingerprint) {
  std::string all = hash128(fingerprint).hex();
  for (const Passage& text : texts) all += hash128(text.text).hex();
  return hash128(all).hex();
}

std::vector<Group> groupsOf(const std::vector<Passage>& passages, std::size_t first, std::size_t size,
                            const std::string& fingerprint) {
  const std::size_t count = passages.size() - first;
  const std::size_t most = std::max<std::size_t>(size, 2);
  const std::size_t groups = std::min((count + most - 1) / most, count / 2);
  std::vector<Group> result;
  for (std::size_t i = 0; i < groups; ++i) {
    Group group{.begin = first + count * i / groups, .end = first + count * (i + 1) / groups, .key = {}};
    group.key = keyOf(std::span(passages).subspan(group.begin, group.end - group.begin), fingerprint);
    result.push_back(std::move(group));
  }
  return result;
}

std::string placeOf(const Passage& first, const Passage& last) {
  constexpr std::string_view kSummary = "summary of ";
  const auto own = [&](const std::string& place) {
    return place.starts_with(kSummary) ? place.substr(kSummary.size()) : place;
  };
  const std::string begin = own(first.place);
  const std::string end = own(last.place);
  if (begin.empty() || end.empty()) return "summary";
  const std::string from = begin.substr(0, begin.find(" to "));
  const std::size_t to = end.find(" to ");
  const std::string until = to == std::string::npos ? end : end.substr(to + 4);
  return std::string(kSummary) + (from == until ? from : from + " to " + until);
}

bool isBlank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string::npos;
}

class Tree {
 public:
  Tree(std::vector<Passage>& passages, Summarizer& summarizer, SummaryStore& store, const Watch& watch)
      : m_passages(passages), m_summarizer(summarizer), m_store(store), m_watch(watch) {}

  bool build() {
    const std::string fingerprint = m_summarizer.fingerprint();
    std::size_t first = 0;
    for (std::uint32_t level = 1; m_passages.size() - first >= 2; ++level) {
      const std::vector<Group> groups = groupsOf(m_passages, first, m_summarizer.groupSize(), fingerprint);
      first = m_passages.size();
      m_progress.total += groups.size();
      for (std::size_t at = 0; at < groups.size(); at += kBatch) {
        const auto batch = std::span(groups).subspan(at, std::min(kBatch, groups.size() - at));
        if (!summarize(batch, level)) return false;
      }
    }
    return true;
  }

 private:
  bool summarize(std::span<const Group> batch, std::uint32_t level) {
    std::vector<std::optional<std::string>> texts;
    std::vector<std::vector<std::string>> missing;
    for (const Group& group : batch) {
      texts.push_back(m_store.find(group.key));
      if (texts.back()) continue;
      std::vector<std::string>& parts = missing.emplace_back();
      for (std::size_t i = group.begin; i < group.end; ++i) parts.push_back(m_passages[i].text);
    }
    std::vector<std::string> made;
    if (!missing.empty()) made = m_summarizer.summarize(missing, m_watch.stop);
    if (made.size() != missing.size()) return false;
    std::vector<std::pair<std::string, std::string>> kept;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (texts[i]) continue;
      texts[i] = std::move(made[kept.size()]);
      kept.emplace_back(batch[i].key, *texts[i]);
    }
    if (!kept.empty()) m_store.keep(kept);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (isBlank(*texts[i])) continue;
      Passage summary;
      summary.level = level;
      summary.place = placeOf(m_passages[batch[i].begin], m_passages[batch[i].end - 1]);
      summary.text = std::move(*texts[i]);
      m_passages.push_back(std::move(summary));
    }
    m_progress.done += batch.size();
    m_progress.added += kept.size();
    m_watch.report(m_progress);
    return true;
  }

  std::vector<Passage>& m_passages;
  Summarizer& m_summarizer;
  SummaryStore& m_store;
  const Watch& m_watch;
  IndexProgress m_progress{.phase = IndexPhase::Summaries};
};

}  // namespace

bool addSummaries(std::vector<Passage>& passages, Summarizer& summarizer, SummaryStore& store,
                  const Watch& watch) {
  if (passages.size() > kMaxSummarizedPassages) {
    throw Failure({{},
                   "summaries",
                   "a document of " + std::to_string(passages.size()) + " passages",
                   "at most " + std::to_string(kMaxSummarizedPassages)});
  }
  return Tree(passages, summarizer, store, watch).build();
}

}  // namespace spanscope::retrieve
