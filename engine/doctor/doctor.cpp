// SPDX-License-Identifier: GPL-3.0-or-later
// Goes through a log: conversations, lookups, causes, and the log with edits.
#include "engine/doctor/doctor.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/translation.h"
#include "engine/doctor/alignment.h"
#include "engine/doctor/causes/changed_text.h"
#include "engine/doctor/edits.h"
#include "engine/doctor/lookup.h"
#include "engine/doctor/redaction.h"
#include "engine/simulator/servers.h"

#include <algorithm>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <unordered_map>

namespace spanscope::doctor {
namespace {

constexpr std::size_t kMostProblems = 1000;
constexpr std::size_t kLinked = 16;  // tokens that link(16) recomputes for each reused span

/// The letters of a message, without numbers, spaces and reasoning. Edited messages mostly keep them.
std::uint64_t lettersHash(const Message& message) {
  std::string letters;
  for (const Part& part : message.parts) {
    if (part.kind == Part::Kind::Reasoning) continue;
    const std::size_t begin = letters.size();
    letters.resize(begin + part.text.size());
    char* end = letters.data() + begin;
    for (const char c : part.text) {
      *end = smallLetter(c);
      end += isLetter(c) || (static_cast<unsigned char>(c) & 0x80U) != 0 ? 1 : 0;
    }
    letters.resize(static_cast<std::size_t>(end - letters.data()));
  }
  if (letters.empty()) letters = "\x01" + messageText(message);
  return hash64(letters);
}

bool isLong(const Message& message) {
  constexpr std::size_t kLeast = 24;  // bytes
  return messageText(message).size() >= kLeast;
}

/// Finds the conversation of a request by its id, or else by its messages.
class Conversations {
 public:
  /// Returns the number of the conversation.
  std::uint32_t find(const LoggedRequest& request) {
    std::vector<std::uint64_t> hashes;
    for (const Message& message : request.messages)
      if (message.role != "system") hashes.push_back(lettersHash(message));
    std::vector<std::uint64_t> chains;  // of the messages up to each one
    for (const std::uint64_t hash : hashes) {
      std::uint64_t mixed = (chains.empty() ? 0 : chains.back()) * kGoldenGamma + hash;
      mixed ^= mixed >> 29U;
      chains.push_back(mixed);
    }
    const std::uint64_t opening = openingHash(request);
    std::uint32_t number = m_count;
    if (!request.conversation.empty()) {
      number = m_byId.emplace(request.conversation, m_count).first->second;
    } else if (const auto chain = byHistory(chains)) {
      number = *chain;
    } else if (const auto found = byMessages(hashes)) {
      number = *found;
    } else if (const auto same = m_byOpening.find(opening);
               same != m_byOpening.end() && hashes.size() > m_sizes[same->second] + 1) {
      // The first message was edited at its end. A longer history tells this from another conversation.
      number = same->second;
    }
    m_count = std::max(m_count, number + 1);
    m_sizes.resize(m_count);
    m_sizes[number] = hashes.size();
    for (std::size_t i = 0; i < hashes.size(); ++i)
      m_byMessage[hashes[i]] = {
          .conversation = number,
          .isFirst = i == 0,
          .isLastLong = i > 0 && i + 1 == hashes.size() && isLong(request.messages.back())};
    for (const std::uint64_t chain : chains) m_byChain[chain] = number;
    m_byOpening[opening] = number;
    return number;
  }
  std::uint32_t count() const { return m_count; }

 private:
  struct Seen {
    std::uint32_t conversation = 0;
    bool isFirst = false;
    bool isLastLong = false;  ///< the last message of a request, with enough letters to be recognized
  };

  /// The beginning of the first message.
  static std::uint64_t openingHash(const LoggedRequest& request) {
    constexpr std::size_t kBytes = 48;
    for (const Message& message : request.messages)
      if (message.role != "system") return hash64(messageText(message).substr(0, kBytes));
    return 0;
  }

  /// The conversation that has at least half of these messages, and at least two, as its beginning. The votes
  /// of single messages can be those of another conversation with equal short messages.
  std::optional<std::uint32_t> byHistory(const std::vector<std::uint64_t>& chains) const {
    for (std::size_t count = chains.size(); count >= 2 && 2 * count >= chains.size(); --count) {
      if (const auto found = m_byChain.find(chains[count - 1]); found != m_byChain.end())
        return found->second;
    }
    return std::nullopt;
  }

  std::optional<std::uint32_t> byMessages(const std::vector<std::uint64_t>& hashes) const {
    std::map<std::uint32_t, std::size_t> votes;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      const auto found = m_byMessage.find(hashes[i]);
      if (found == m_byMessage.end()) continue;
      // An equal first message identifies most conversations. So does the last message of a conversation, if
      // the history goes on after it.
      const bool isFirst = i == 0 && found->second.isFirst;
      const bool isLast = found->second.isLastLong && i + 1 < hashes.size();
      votes[found->second.conversation] += isFirst || isLast ? 2 : 1;
    }
    std::optional<std::uint32_t> best;
    std::size_t most = 0;
    for (const auto& [number, count] : votes) {
      const std::size_t smaller = std::min(m_sizes[number], hashes.size());
      if (count >= 2 && 2 * count >= smaller && count >= most) {
        best = number;
        most = count;
      }
    }
    return best;
  }

  std::uint32_t m_count = 0;
  std::unordered_map<std::string, std::uint32_t> m_byId;
  std::unordered_map<std::uint64_t, Seen> m_byMessage;
  std::unordered_map<std::uint64_t, std::uint32_t> m_byOpening;
  std::unordered_map<std::uint64_t, std::uint32_t> m_byChain;
  std::vector<std::size_t> m_sizes;  ///< messages of the last request
};

std::size_t bytesOf(const LoggedRequest& request) {
  std::size_t bytes = sizeof(LoggedRequest);
  for (const Message& message : request.messages)
    for (const Part& part : message.parts) bytes += part.text.size() + sizeof(Part);
  for (const Tool& tool : request.tools) bytes += tool.text.size() + sizeof(Tool);
  return bytes;
}

/// Finds the model that computed a prompt. A response names it, whatever name the request has.
class ServedModels {
 public:
  explicit ServedModels(const std::string& server)
      : m_hasOneModel(server == "llama.cpp" || server == "sglang") {}

  /// Learns from a request in the order of the log.
  void add(const LoggedRequest& request) {
    if (!request.answeredModel.empty()) m_names[request.model] = request.answeredModel;
  }
  /// Sets `answeredModel`. These servers have one model and ignore the name, but SGLang reads an adapter
  /// after a colon.
  void resolve(LoggedRequest& request) const {
    if (m_hasOneModel) {
      const std::size_t colon = request.model.find(':');
      request.answeredModel =
          colon == std::string::npos ? "the model of the server" : request.model.substr(colon);
    } else if (request.answeredModel.empty()) {
      if (const auto found = m_names.find(request.model); found != m_names.end())
        request.answeredModel = found->second;
    }
  }

 private:
  bool m_hasOneModel;
  std::unordered_map<std::string, std::string> m_names;
};

/// Keeps the last requests. Others are read again from their file.
class RequestCache {
 public:
  RequestCache(const LogReader& log, const std::optional<ServedModels>& models)
      : m_log(&log), m_models(&models) {}

  void keep(std::uint32_t number, std::shared_ptr<const LoggedRequest> request) {
    m_bytes += bytesOf(*request);
    m_order.push_back(number);
    m_requests[number] = std::move(request);
    while (m_bytes > kMostBytes && m_order.size() > 1) {
      const auto first = m_requests.find(m_order.front());
      m_order.pop_front();
      if (first == m_requests.end()) continue;
      m_bytes -= std::min(m_bytes, bytesOf(*first->second));
      m_requests.erase(first);
    }
  }
  std::shared_ptr<const LoggedRequest> get(std::uint32_t number, const LogPlace& place) {
    if (const auto found = m_requests.find(number); found != m_requests.end()) return found->second;
    LoggedRequest again = m_log->again(place);
    if (*m_models) (*m_models)->resolve(again);
    auto request = std::make_shared<const LoggedRequest>(std::move(again));
    keep(number, request);
    return request;
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

  const LogReader* m_log;
  const std::optional<ServedModels>* m_models;
  std::unordered_map<std::uint32_t, std::shared_ptr<const LoggedRequest>> m_requests;
  std::list<std::uint32_t> m_order;
  std::size_t m_bytes = 0;
};

/// Facts about an earlier request that later passes need.
struct Known {
  LogPlace place;
  std::uint32_t conversation = 0;
  std::size_t messagesEnd = 0;  ///< tokens before the generation prompt
  std::size_t sequence = 0;     ///< tokens with the answer
  bool hasAnswer = false;
  std::string replica{};
};

class Diagnosis {
 public:
  Diagnosis(const LogReader& log, const PromptTokenizer& tokenizer, const DoctorOptions& options,
            const std::stop_token& stop, const DoctorProgress& progress)
      : m_log(log),
        m_tokenizer(tokenizer),
        m_options(options),
        m_stop(stop),
        m_progress(progress),
        m_cache(log, m_models),
        m_lookup(std::in_place, options) {
    for (const LogSource& source : log.sources()) m_report.files.push_back(source.name);
    m_report.tokens = tokenizer.setting();
    m_report.isEstimated = tokenizer.isEstimated();
  }

  LogReport run() {
    m_log.learnTimes(m_stop);
    m_log.read([&](LoggedRequest&& request) { add(std::move(request)); },
               [&](const LogProblem& problem) {
                 if (++m_report.problemCount <= kMostProblems) m_report.problems.push_back(problem);
               },
               m_stop);
    noteServers();
    m_report.conversations = m_conversations.count();
    // The log with edits needs the memory.
    m_lookup.reset();
    std::uint64_t spans = 0;
    std::uint64_t linked = 0;
    for (std::size_t i = 0; i < m_report.requests.size(); ++i) {
      const RequestReport& request = m_report.requests[i];
      m_report.prompt += request.prompt;
      m_report.cached += request.cached;
      spans += m_spans[i].first;
      linked += m_spans[i].second;
    }
    addWay("as_is", forTranslation("Causes", "unchanged"), m_report.prompt,
           m_report.prompt - m_report.cached);
    if (m_options.showsEdits && !m_stop.stop_requested()) {
      computeEdited(EditKind::Usual);
      computeEdited(EditKind::Documents);
    }
    addWay("spans", forTranslation("Causes", "as spans"), m_report.prompt, spans);
    addWay("spans_link_16", forTranslation("Causes", "as spans with link(16)"), m_report.prompt, linked);
    if (m_options.showsEdits && !m_stop.stop_requested()) dropCausesWithoutLoss();
    sumCauses();
    m_report.isStopped = m_stop.stop_requested();
    return std::move(m_report);
  }

 private:
  void noteServers() {
    const bool isOther = m_lookup->servers() != m_servers || m_lookup->hasStatedLife() != m_hasStatedLife;
    if (m_report.requests.empty() || isOther) m_report.server = m_lookup->setting();
    m_hasStatedLife = m_lookup->hasStatedLife();
    m_report.block = m_lookup->block();
    m_servers = m_lookup->servers();
  }

  void addWay(const char* key, const char* name, std::uint64_t prompt, std::uint64_t computed) {
    m_report.ways.push_back({.key = key, .name = name, .prompt = prompt, .computed = computed});
  }

  void add(LoggedRequest&& given) {
    if (!m_models) m_models.emplace(rulesOf(m_options, given.server).server);
    m_models->add(given);
    m_models->resolve(given);
    auto request = std::make_shared<const LoggedRequest>(std::move(given));
    const auto number = static_cast<std::uint32_t>(m_report.requests.size());
    RequestReport report{.place = request->place,
                         .time = request->time,
                         .isConcurrent = request->isConcurrent,
                         .model = redacted(request->model),
                         .sessionId = redacted(request->conversation),
                         .upstream = redacted(request->upstream)};
    report.reported = request->usage.cached;
    report.reportedPrompt = request->usage.prompt;
    report.conversation = m_conversations.find(*request);
    if (!request->failure.empty()) return addRefused(*request, std::move(report));
    PromptTokens tokens;
    try {
      tokens = m_tokenizer.tokens(*request, m_stop);
    } catch (const Failure& failure) {
      if (m_stop.stop_requested()) return;
      report.failure = redacted(failure.what());
    }
    const auto previous = m_last.find(report.conversation);
    const auto before = previous == m_last.end() ? std::nullopt : std::optional(previous->second);
    const Lookup::Result result = m_lookup->add(*request, tokens, before);
    noteServers();
    report.prompt = tokens.prompt;
    report.cached = result.cached;
    report.common = result.found.common;
    if (report.common > 0) report.best = result.found.best;
    report.repeated = coveredTokens(result.found.repeats, result.found.common, 0, tokens.prompt);
    addSpans(tokens, result);
    if (report.failure.empty()) explain(*request, tokens, result, before, report);

    Known known{.place = request->place,
                .conversation = report.conversation,
                .messagesEnd = tokens.prompt,
                .sequence = tokens.ids.size(),
                .hasAnswer = request->answer.has_value(),
                .replica = replicaOf(*request, result)};
    if (!tokens.sections.empty() && tokens.sections.back().section == kEndSection)
      known.messagesEnd = tokens.sections.back().begin;
    m_known.push_back(known);
    m_last[report.conversation] = number;
    m_lastComputed = number;
    m_tools.add(report.conversation, *request);
    m_cache.keep(number, request);
    m_report.requests.push_back(std::move(report));
    if (m_progress) m_progress(m_report, DoctorPhase::Log, m_report.requests.size());
  }

  /// The server computed nothing, so nothing is cached, and no later request is compared with this one.
  void addRefused(const LoggedRequest& request, RequestReport&& report) {
    m_lookup->add(request, {}, {});
    noteServers();
    report.refusal = redacted(request.failure);
    ++m_report.refused;
    m_spans.emplace_back(0, 0);
    m_known.push_back({.place = request.place, .conversation = report.conversation});
    m_report.requests.push_back(std::move(report));
    if (m_progress) m_progress(m_report, DoctorPhase::Log, m_report.requests.size());
  }

  static const std::string& replicaOf(const LoggedRequest& request, const Lookup::Result& result) {
    return request.replica.empty() ? result.server : request.replica;
  }

  /// What spans would compute: all tokens that no earlier request had at any place.
  void addSpans(const PromptTokens& tokens, const Lookup::Result& result) {
    // Spans are reused on one server only.
    const Alignment::Found& found = result.onServer;
    const std::size_t common = std::min(found.common, tokens.prompt == 0 ? 0 : tokens.prompt - 1);
    const std::size_t reused = coveredTokens(found.repeats, common, 0, tokens.prompt);
    const std::size_t computed = std::max<std::size_t>(
        tokens.prompt - common - std::min(reused, tokens.prompt - common), tokens.prompt == 0 ? 0 : 1);
    std::size_t recomputed = 0;
    std::size_t at = common;
    for (const Repeat& repeat : found.repeats) {
      const std::size_t end = repeat.begin + repeat.count;
      if (end <= at) continue;
      recomputed += std::min(kLinked, end - std::max(at, repeat.begin));
      at = end;
    }
    m_spans.emplace_back(computed, std::min(tokens.prompt, computed + recomputed));
  }

  void explain(const LoggedRequest& request, const PromptTokens& tokens, const Lookup::Result& result,
               std::optional<std::uint32_t> previous, RequestReport& report) {
    const bool isSame = previous.has_value();
    std::optional<std::uint32_t> compared = previous;
    std::size_t common = result.found.withPrevious;
    if (!compared) {
      compared = report.best;
      common = report.common;
      // Another model or salt shares no prefix. The last request can still show the difference.
      if (!compared) compared = m_lastComputed;
    }
    if (previous && report.best && isOtherBranch(*previous, request, report)) {
      compared = report.best;
      common = report.common;
    }
    std::size_t messagesEnd = tokens.prompt;
    if (!tokens.sections.empty() && tokens.sections.back().section == kEndSection)
      messagesEnd = tokens.sections.back().begin;
    LookupFacts facts{.hasEarlier = m_lastComputed.has_value(),
                      .isWholeKnown = report.common >= messagesEnd && messagesEnd > 0,
                      .sharesSection = false,
                      .prompt = tokens.prompt,
                      .common = report.common,
                      .cached = report.cached,
                      .byRules = result.byRules,
                      .withoutLimits = result.withoutLimits,
                      .onServer = result.onServerWithoutLimits,
                      .alive = result.found.alive,
                      .block = result.cache->block(),
                      .isLimited = result.cache->isLimited(),
                      .hasServers = m_lookup->servers() > 1,
                      .isConcurrent = request.isConcurrent,
                      .isInOtherSlot = result.isInOtherSlot,
                      .doubt = result.doubt,
                      .slot = result.slot,
                      .replica = replicaOf(request, result),
                      .bestReplica = report.best ? m_known[*report.best].replica : std::string(),
                      .reported = report.reported,
                      .reportedPrompt = report.reportedPrompt};
    for (const SectionTokens& section : tokens.sections)
      facts.sharesSection = facts.sharesSection ||
                            (section.section >= 0 && section.end <= report.common + 1 && section.end > 4);
    if (compared) {
      report.compared = compared;
      report.commonCompared = common;
      const Known& known = m_known[*compared];
      // The prompt goes on where the earlier request ended, so nothing differs.
      const bool goesOn = common >= known.messagesEnd && (!known.hasAnswer || common + 2 >= known.sequence);
      const bool isBeginning = common >= messagesEnd;
      facts.isExtension = (goesOn || isBeginning) && isSame;
      if (!goesOn && !isBeginning) compare(*compared, isSame, common, request, tokens, result, facts, report);
      // Another conversation has other texts. If nothing after the difference is the same, no edit saves
      // tokens.
      if (!isSame && report.repeated == 0)
        std::erase_if(report.findings,
                      [](const NamedFinding& one) { return causeOf(one.finding.cause).isEdit; });
    }
    if (report.common < tokens.prompt && (!facts.isExtension || !report.findings.empty()) && m_lastComputed)
      report.differenceSection = sectionName(request, tokens.sectionAt(report.common));
    const auto lookup = findCause(facts);
    if (lookup && (report.findings.empty() || lookup->cause == CauseId::Evicted ||
                   lookup->cause == CauseId::Expired || lookup->cause == CauseId::OtherSlot))
      report.findings.push_back({*lookup, sectionName(request, tokens.sectionAt(report.common))});
    if (!report.findings.empty()) setLost(facts, report);
  }

  /// Programs give several histories one id. Such a request goes on where its best earlier request ended, and
  /// has no message that the previous request has after the first difference.
  bool isOtherBranch(std::uint32_t previous, const LoggedRequest& request, const RequestReport& report) {
    const Known& best = m_known[*report.best];
    if (*report.best == previous || report.common < best.messagesEnd) return false;
    const auto before = m_cache.get(previous, m_known[previous].place);
    const auto pairs = pairsOf(*before, request);
    bool differs = false;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const bool isEqual = pairs[i] && *pairs[i] < before->messages.size() &&
                           before->messages[*pairs[i]] == request.messages[i];
      if (isEqual && differs) return false;
      differs = differs || !isEqual;
    }
    return differs && before->tools == request.tools;
  }

  void compare(std::uint32_t compared, bool isSame, std::size_t common, const LoggedRequest& request,
               const PromptTokens& tokens, const Lookup::Result& result, LookupFacts& facts,
               RequestReport& report) {
    constexpr std::size_t kMostDifferences = 16;
    const auto before = m_cache.get(compared, m_known[compared].place);
    std::vector<Difference> differences = differencesOf(*before, request, isSame);
    const std::int32_t section = tokens.sectionAt(common);
    if (differences.empty() && isSame) {
      if (common < m_known[compared].messagesEnd) {
        Difference rendered{.change = Difference::Change::Rendered,
                            .before = &*before,
                            .now = &request,
                            .beforeSection = section,
                            .nowSection = section,
                            .beforeText = {},
                            .nowText = {},
                            .isSameConversation = isSame};
        differences.push_back(std::move(rendered));
      } else {
        facts.isExtension = true;  // the tokens of an answer and of its message can differ at the border
      }
    }
    for (std::size_t i = 0; i < std::min(differences.size(), kMostDifferences); ++i) {
      Difference& difference = differences[i];
      for (const SectionTokens& one : tokens.sections)
        if (one.section == difference.nowSection)
          difference.repeatedTokens =
              coveredTokens(result.found.repeats, result.found.common, one.begin, one.end);
      for (Finding& finding : findCauses(difference))
        report.findings.push_back({finding, sectionName(request, finding.section)});
    }
    // The cause of the first differing token comes first. Each cause is named once.
    std::ranges::stable_partition(report.findings,
                                  [&](const NamedFinding& one) { return one.finding.section == section; });
    std::vector<NamedFinding> once;
    for (NamedFinding& one : report.findings)
      if (std::ranges::none_of(
              once, [&](const NamedFinding& other) { return other.finding.cause == one.finding.cause; }))
        once.push_back(std::move(one));
    report.findings = std::move(once);
    if (report.findings.empty() && !differences.empty() && isSame && !isNewEnd(differences, request)) {
      Finding unknown{.cause = CauseId::Unknown, .section = section};
      unknown.detail = "no rule explains how the texts differ";
      report.findings.push_back({unknown, sectionName(request, section)});
    }
  }

  /// Whether only the last message differs, which is a new question.
  static bool isNewEnd(const std::vector<Difference>& differences, const LoggedRequest& request) {
    return std::ranges::all_of(differences, [&](const Difference& one) {
      return one.isAtEnd || one.nowSection + 1 >= static_cast<std::int32_t>(request.messages.size());
    });
  }

  /// The server computed at most this number of tokens, by its report.
  static std::size_t mostLost(const RequestReport& report) {
    const Usage usage{.prompt = report.reportedPrompt, .cached = report.reported};
    return report.prompt - std::min(report.prompt, surelyReused(usage, report.prompt));
  }

  void setLost(const LookupFacts& facts, RequestReport& report) const {
    switch (report.findings.front().finding.cause) {
      case CauseId::Expired:
      case CauseId::OtherSlot:
      case CauseId::Evicted:
      case CauseId::Unknown:
        report.lost = facts.withoutLimits - std::min(facts.withoutLimits, facts.cached);
        // The server reported fewer cached tokens than the rules allow.
        if (report.lost == 0 && facts.reported) {
          const std::size_t allowed = facts.asReported(facts.cached);
          report.lost =
              allowed -
              std::min(allowed, static_cast<std::size_t>(std::max<std::int64_t>(0, *facts.reported)));
        }
        break;
      case CauseId::ShorterThanBlock:
      case CauseId::AfterLastBlock:
        report.lost = std::min(facts.common, facts.prompt - 1) - std::min(facts.common, facts.cached);
        break;
      case CauseId::DocumentElsewhere:
        report.lost = report.repeated;
        break;
      default:
        break;  // computed with the edits
    }
    report.lost = std::min(report.lost, mostLost(report));
  }

  // --- The log with edits

  static constexpr const char* kEditsWay = "edits";
  static constexpr const char* kDocumentsWay = "documents";

  void computeEdited(EditKind kind) {
    const bool withDocuments = kind == EditKind::Documents;
    const bool isNeeded =
        std::ranges::any_of(m_report.requests, [&](const RequestReport& one) { return isEdited(one, kind); });
    const char* key = withDocuments ? kDocumentsWay : kEditsWay;
    const char* name = withDocuments ? forTranslation("Causes", "with the edits and one document order")
                                     : forTranslation("Causes", "with the edits");
    if (!isNeeded) {
      const Way& before = m_report.ways.back();
      addWay(key, name, before.prompt, before.computed);
      if (!withDocuments && m_options.takeEdited)
        m_log.read([&](LoggedRequest&& one) { m_options.takeEdited(one); }, [](const LogProblem&) {}, m_stop);
      return;
    }
    LogEditor editor(m_report, m_tools, kind);
    Lookup lookup(m_options);
    std::uint64_t prompt = 0;
    std::uint64_t computed = 0;
    m_log.read(
        [&](LoggedRequest&& request) {
          const std::uint32_t number = editor.count();
          if (number >= m_report.requests.size()) return;
          RequestReport& report = m_report.requests[number];
          m_models->resolve(request);
          const LoggedRequest edited = editor.edited(std::move(request));
          if (!report.refusal.empty()) {
            if (!withDocuments && m_options.takeEdited) m_options.takeEdited(edited);
            return;
          }
          PromptTokens tokens;
          try {
            tokens = m_tokenizer.tokens(edited, m_stop);
          } catch (const Failure&) {
            tokens = {};
          }
          if (m_stop.stop_requested()) return;
          const Lookup::Result result = lookup.add(edited, tokens, {});
          const std::size_t rest = tokens.prompt - result.cached;
          prompt += tokens.prompt;
          computed += rest;
          if (!report.findings.empty()) {
            const Cause& cause = causeOf(report.findings.front().finding.cause);
            const bool counts = withDocuments ? cause.id == CauseId::DocumentOrder : cause.isEdit;
            if (counts && report.computed() > rest)
              report.lost = std::max(report.lost, std::min(report.computed() - rest, mostLost(report)));
          }
          if (!withDocuments && m_options.takeEdited) m_options.takeEdited(edited);
          if (m_progress)
            m_progress(m_report, withDocuments ? DoctorPhase::Documents : DoctorPhase::Edits, number + 1);
        },
        [](const LogProblem&) {}, m_stop);
    addWay(key, name, prompt, computed);
  }

  /// Another conversation has other texts. If the edits save nearly nothing, its difference is no cause. The
  /// ways with edits then have no edits.
  void dropCausesWithoutLoss() {
    constexpr std::size_t kLeastLoss = 16;  // tokens; servers without blocks also lose single tokens
    for (RequestReport& report : m_report.requests) {
      if (report.findings.empty() || !report.compared) continue;
      const bool isOther = m_report.requests[*report.compared].conversation != report.conversation;
      if (report.lost > 0 && !(isOther && report.lost < kLeastLoss)) continue;
      // The request found the differing tokens in another prompt, so the difference costs nothing.
      const bool isInCached = report.commonCompared < report.cached;
      if (!isInCached && !isOther) continue;
      const auto dropped = std::erase_if(
          report.findings, [](const NamedFinding& one) { return causeOf(one.finding.cause).isEdit; });
      if (dropped > 0) report.lost = 0;
    }
    for (std::size_t i = 1; i < m_report.ways.size(); ++i) {
      Way& way = m_report.ways[i];
      const bool isDocuments = std::string_view(way.key) == kDocumentsWay;
      if (!isDocuments && std::string_view(way.key) != kEditsWay) continue;
      const EditKind kind = isDocuments ? EditKind::Documents : EditKind::Usual;
      if (std::ranges::any_of(m_report.requests,
                              [&](const RequestReport& one) { return isEdited(one, kind); }))
        continue;
      way.prompt = m_report.ways[i - 1].prompt;
      way.computed = m_report.ways[i - 1].computed;
    }
  }

  void sumCauses() {
    std::map<CauseId, CauseTotal> totals;
    for (const RequestReport& report : m_report.requests) {
      if (report.findings.empty()) continue;
      const CauseId cause = report.findings.front().finding.cause;
      CauseTotal& total = totals[cause];
      total.cause = cause;
      ++total.requests;
      total.lost += report.lost;
      m_report.lost += report.lost;
    }
    for (const auto& [cause, total] : totals) m_report.causes.push_back(total);
    std::ranges::stable_sort(m_report.causes, std::ranges::greater(), &CauseTotal::lost);
  }

  const LogReader& m_log;
  const PromptTokenizer& m_tokenizer;
  DoctorOptions m_options;
  std::size_t m_servers = 0;
  bool m_hasStatedLife = false;
  std::stop_token m_stop;
  const DoctorProgress& m_progress;
  LogReport m_report;
  Conversations m_conversations;
  std::optional<ServedModels> m_models;
  RequestCache m_cache;
  std::optional<std::uint32_t> m_lastComputed;  ///< the last request that the server computed
  std::optional<Lookup> m_lookup;               ///< of the log as it is
  std::vector<Known> m_known;
  std::unordered_map<std::uint32_t, std::uint32_t> m_last;   ///< last request of each conversation
  std::vector<std::pair<std::size_t, std::size_t>> m_spans;  ///< computed tokens as spans, and with link(16)
  ConversationTools m_tools;
};

}  // namespace

double WayQuality::divergence() const {
  double sum = 0;
  for (const RequestQuality& one : requests) sum += one.divergence;
  return sum / static_cast<double>(std::max<std::size_t>(1, requests.size()));
}

double WayQuality::agreement() const {
  std::int64_t tokens = 0;
  std::int64_t agreeing = 0;
  for (const RequestQuality& one : requests) {
    tokens += one.tokens;
    agreeing += one.agreeing;
  }
  return static_cast<double>(agreeing) / static_cast<double>(std::max<std::int64_t>(1, tokens));
}

LogReport diagnose(const LogReader& log, const PromptTokenizer& tokenizer, const DoctorOptions& options,
                   const std::stop_token& stop, const DoctorProgress& progress) {
  return Diagnosis(log, tokenizer, options, stop, progress).run();
}

}  // namespace spanscope::doctor
