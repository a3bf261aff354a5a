// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/doctor/quality.h"

#include "engine/base/hash.h"
#include "engine/doctor/edits.h"
#include "engine/doctor/span_query.h"
#include "engine/query/json/json.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace spanscope::doctor {
namespace {

bool isMeasurable(const RequestReport& report, const LoggedRequest& request) {
  return report.refusal.empty() && report.failure.empty() && !request.messages.empty();
}

std::vector<SpanProposal> usualProposals(const LoggedRequest& request, const PartCounts& counts) {
  std::vector<SpanProposal> proposals = proposeSpans(request, counts);
  std::erase_if(proposals, [](const SpanProposal& one) { return !one.byDefault; });
  return proposals;
}

/// Chooses `most` numbers, evenly spread.
std::vector<std::uint32_t> spread(const std::vector<std::uint32_t>& numbers, std::size_t most) {
  const std::size_t count = std::min(numbers.size(), most);
  std::vector<std::uint32_t> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(numbers[i * numbers.size() / count]);
  return chosen;
}

/// Makes the question of a request for one group. Nothing: the group cannot measure this request.
using Ask = std::function<std::optional<QualityQuestion>(const LoggedRequest& request)>;

struct Group {
  std::vector<QualityPolicy> policies;
  std::function<Ask()> begin;  ///< begins a pass over the log, which asks about each request
};

class Sampling {
 public:
  Sampling(const LogReader& log, const LogReport& report, const std::stop_token& stop)
      : m_log(log), m_report(report), m_stop(stop) {
    each([this](std::uint32_t number, const LoggedRequest& request) {
      m_counts.add(request);
      const RequestReport& one = m_report.requests[number];
      if (one.refusal.empty()) m_tools.add(one.conversation, request);
    });
  }

  std::vector<QualityGroup> take(std::size_t most) const {
    const std::vector<Group> groups = groupsOf();
    std::vector<std::vector<std::uint32_t>> usable(groups.size());
    ask(groups,
        [&](std::size_t group, QualityQuestion&& question) { usable[group].push_back(question.request); });
    std::vector<QualityGroup> sample(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
      sample[i].policies = groups[i].policies;
      usable[i] = spread(usable[i], most);
    }
    ask(groups, [&](std::size_t group, QualityQuestion&& question) {
      if (std::ranges::binary_search(usable[group], question.request))
        sample[group].questions.push_back(std::move(question));
    });
    std::erase_if(sample, [](const QualityGroup& one) { return one.questions.empty(); });
    return sample;
  }

 private:
  void each(const std::function<void(std::uint32_t, const LoggedRequest&)>& take) const {
    std::uint32_t number = 0;
    m_log.read(
        [&](LoggedRequest&& request) {
          if (number < m_report.requests.size()) take(number++, request);
        },
        [](const LogProblem&) {}, m_stop);
  }

  std::vector<Group> groupsOf() const {
    std::vector<Group> groups;
    groups.push_back({.policies = {{.policy = "spans", .ways = {"spans"}},
                                   {.policy = "link(16)", .ways = {"spans_link_16"}}},
                      .begin = [this] { return spansAsk(); }});
    const auto has = [this](EditKind kind) {
      return std::ranges::any_of(m_report.requests,
                                 [kind](const RequestReport& one) { return isEdited(one, kind); });
    };
    // A prompt that is computed as a whole differs from the log only by its text.
    constexpr const char* kWhole = "prefix";
    const bool hasDocuments = has(EditKind::Documents);
    if (has(EditKind::Usual)) {
      QualityPolicy edits{.policy = kWhole, .ways = {"edits"}};
      if (!hasDocuments) edits.ways.emplace_back("documents");
      groups.push_back({.policies = {edits}, .begin = [this] { return editsAsk(EditKind::Usual); }});
    }
    if (hasDocuments)
      groups.push_back({.policies = {{.policy = kWhole, .ways = {"documents"}}},
                        .begin = [this] { return editsAsk(EditKind::Documents); }});
    return groups;
  }

  Ask spansAsk() const {
    return [this, number = std::uint32_t{0}](
               const LoggedRequest& request) mutable -> std::optional<QualityQuestion> {
      const std::uint32_t now = number++;
      const std::vector<SpanProposal> proposals = usualProposals(request, m_counts);
      if (proposals.empty() || !isMeasurable(m_report.requests[now], request)) return {};
      return QualityQuestion{.request = now,
                             .query = query::writeCanonical(queryOf(request, proposals).query)};
    };
  }

  Ask editsAsk(EditKind kind) const {
    return [this, editor = std::make_shared<LogEditor>(m_report, m_tools, kind)](
               const LoggedRequest& request) -> std::optional<QualityQuestion> {
      const std::uint32_t now = editor->count();
      const LoggedRequest edited = editor->edited(request);
      const bool isSame = edited.messages == request.messages && edited.tools == request.tools;
      if (isSame || !isMeasurable(m_report.requests[now], request)) return {};
      QualityQuestion question{.request = now,
                               .query = query::writeCanonical(queryOf(edited).query),
                               .original = query::writeCanonical(queryOf(request).query)};
      // Edits of parts that queries do not have, such as reasoning.
      if (question.query == question.original) return {};
      return question;
    };
  }

  void ask(const std::vector<Group>& groups,
           const std::function<void(std::size_t, QualityQuestion&&)>& take) const {
    std::vector<Ask> asks;
    for (const Group& group : groups) asks.push_back(group.begin());
    each([&](std::uint32_t, const LoggedRequest& request) {
      for (std::size_t i = 0; i < asks.size(); ++i)
        if (std::optional<QualityQuestion> question = asks[i](request)) take(i, std::move(*question));
    });
  }

  const LogReader& m_log;
  const LogReport& m_report;
  const std::stop_token& m_stop;
  PartCounts m_counts;
  ConversationTools m_tools;
};

}  // namespace

std::vector<QualityGroup> qualitySample(const LogReader& log, const LogReport& report, std::size_t most,
                                        const std::stop_token& stop) {
  return Sampling(log, report, stop).take(most);
}

std::string identityOf(const LogReport& report) {
  std::vector<std::uint64_t> numbers;
  for (const RequestReport& request : report.requests)
    for (const std::uint64_t number :
         {static_cast<std::uint64_t>(request.place.file), request.place.begin, request.place.bytes,
          static_cast<std::uint64_t>(request.place.part), static_cast<std::uint64_t>(request.prompt)})
      numbers.push_back(number);
  Digest digest;
  digest.add(numbers);
  for (const std::string& file : report.files) digest.add(file);
  return digest.value().hex();
}

}  // namespace spanscope::doctor
