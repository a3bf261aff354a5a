// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/segment_names.h"

#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/query/query.h"
#include "engine/run/trace_values.h"
#include "engine/trace/report.h"
#include "ui/operators/operator_table.h"
#include "ui/words/short_names.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <QStringList>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <variant>

namespace spanscope::ui {

namespace {

/// Finds the nodes of a run or of the next run: in the document if it has them, else in the query of the run.
class RunNodes {
 public:
  RunNodes(const ViewInput& input, RunId run) : m_input(input), m_run(run) {}
  RunNodes(const ViewInput& input, const DocumentPrediction& prediction)
      : m_input(input), m_prediction(&prediction) {}

  const document::DocumentNode* inDocument(const NodePath& path) const {
    const document::NodeId id =
        m_prediction != nullptr ? m_prediction->paths.nodeOf(path) : m_input.nodeOf(m_run, path);
    return id == document::kNoNode ? nullptr : m_input.document->find(id);
  }

  /// The node at a path; nullptr if neither has the path.
  const query::Node* find(const NodePath& path) {
    if (const document::DocumentNode* node = inDocument(path)) return &node->own;
    if (!m_read) {
      m_read = true;
      m_query = query::parseJson(queryJson()).query;
    }
    return m_query ? query::nodeAt(*m_query, path) : nullptr;
  }

 private:
  std::string queryJson() const {
    if (m_prediction != nullptr) return m_prediction->queryJson;
    const auto& runs = m_input.state().progress().runs;
    const auto run = runs.find(m_run);
    return run == runs.end() ? std::string() : *run->second.queryJson;
  }

  const ViewInput& m_input;
  RunId m_run = 0;
  const DocumentPrediction* m_prediction = nullptr;
  bool m_read = false;
  std::optional<query::Node> m_query;
};

QString nodeLabel(const query::Node& node) {
  return ui::operatorLabel(query::operatorName(node));
}

bool holdsOutput(const std::vector<trace::SegmentInfo>& segments, const trace::PromptParts& parts,
                 std::uint32_t part) {
  for (const trace::PartRange& range : parts.visible()) {
    if (range.part != part) continue;
    std::int32_t begin = 0;
    for (const trace::TokenRunInfo& run : segments[range.segment].runs) {
      const std::int32_t end = begin + run.count;
      const bool isThere = std::max(begin, range.begin) < std::min(end, range.end);
      if (isThere && run.source == trace::TokenSource::Output) return true;
      begin = end;
    }
  }
  return false;
}

bool isText(const query::Node* node) {
  return node == nullptr || query::infoOf(*node).gives == query::Gives::Text || query::isSugar(*node) ||
         query::documentOf(*node) != nullptr;
}

/// The children of a plus are sections. The plus itself is a section only for a note about their order.
bool isOrderNote(bool inPlus, const query::Node* node) {
  const query::Join* const join = node == nullptr ? nullptr : node->as<query::Join>();
  return !inPlus && join != nullptr && join->kind == query::JoinKind::Plus;
}

QString roleOf(bool inPlus, bool isAnswer, const query::Node* node, bool only, bool last) {
  if (inPlus && isAnswer) return tr("answer");
  if (inPlus) return isText(node) ? tr("document") : tr("section");
  if (isOrderNote(inPlus, node)) return tr("order note");
  if (only) return tr("prompt");
  const query::Message* message = node == nullptr ? nullptr : node->as<query::Message>();
  if (last && (message == nullptr || message->role == query::Role::User)) return tr("question");
  if (isAnswer) return tr("answer");
  // Such a section has no message: the chat template itself wrote it.
  if (node != nullptr && query::answers(*node)) return tr(/*id:text-of-the-template*/ "chat template");
  return node == nullptr ? tr("section") : nodeLabel(*node);
}

/// Whether this segment is the recomputed beginning of the next one (policy link). The next segment begins
/// with the same tokens, but other tokens attend to them only in this segment.
bool isLinked(const std::vector<trace::SegmentInfo>& segments, std::size_t index) {
  if (index + 1 >= segments.size()) return false;
  const trace::SegmentInfo& segment = segments[index];
  const trace::SegmentInfo& rest = segments[index + 1];
  std::int64_t end = segment.base;
  for (const trace::TokenRunInfo& run : segment.runs) end += run.count;
  return !segment.hidden && segment.visibleBegin == 0 && rest.visibleBegin > 0 && segment.depth > 0 &&
         segment.scope == rest.scope && segment.node == rest.node && rest.base + rest.visibleBegin == end;
}

/// The identity of the section that contains a path; nullptr: not known.
using IdentityOf = std::function<const SegmentIdentity*(const NodePath&)>;

/// "document 3", with the section's own number, which is the same at every place. Empty if a counter numbers
/// its role.
QString numberedName(const QString& role, const SegmentIdentity* identity, const SegmentIdentities& all) {
  if (identity == nullptr) return {};
  const bool isDocument = identity->kind == PartKind::Document && role == tr("document");
  const bool isPart = identity->kind == PartKind::Part && role == tr("section");
  if (!isDocument && !isPart) return {};
  return all.count(identity->kind) < 2 ? role : tr("%1 %2").arg(role).arg(identity->number + 1);
}

std::vector<PartName> partNamesOf(const std::vector<trace::SegmentInfo>& segments,
                                  const trace::PromptParts& parts, RunNodes& nodes,
                                  const SegmentIdentities& all, const IdentityOf& identityOf) {
  std::vector<PartName> names(parts.size());
  std::vector<std::uint32_t> order;  // the visible sections in the order in which they begin
  for (const trace::PartRange& range : parts.visible()) {
    if (std::find(order.begin(), order.end(), range.part) == order.end()) order.push_back(range.part);
  }
  std::map<const SegmentIdentity*, std::size_t> copies;
  std::map<QString, std::vector<std::uint32_t>> byRole;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::uint32_t part = order[place];
    const trace::PartInfo& info = parts.info(part);
    PartName& own = names[part];
    own.hue = place;
    const SegmentIdentity* identity = identityOf(info.node);
    if (identity != nullptr) own.hue = identity->hue + std::min(copies[identity]++, identity->copies - 1);
    const document::DocumentNode* node = nodes.inDocument(info.node);
    if (node != nullptr && !node->name.empty() && !isOrderNote(info.inPlus, &node->own)) {
      own.name = QString::fromStdString(node->name);
      continue;
    }
    own.name = roleOf(info.inPlus, holdsOutput(segments, parts, part), nodes.find(info.node),
                      order.size() == 1, place + 1 == order.size());
    const QString numbered = numberedName(own.name, identity, all);
    if (!numbered.isEmpty()) {
      own.name = numbered;
    } else {
      byRole[own.name].push_back(part);
    }
  }
  // Numbers follow the content, as hues do. So two messages keep their names when the user swaps them.
  const auto numberOf = [&](std::uint32_t part) {
    const SegmentIdentity* identity = identityOf(parts.info(part).node);
    return identity == nullptr ? all.count(PartKind::Message) : identity->number;
  };
  for (auto& [role, places] : byRole) {
    if (places.size() < 2) continue;
    std::ranges::stable_sort(places, {}, numberOf);
    for (std::size_t n = 0; n < places.size(); ++n) names[places[n]].name = tr("%1 %2").arg(role).arg(n + 1);
  }
  return names;
}

/// The sections with visible tokens in a segment, in view order.
std::vector<std::uint32_t> partsOf(const trace::PromptParts& parts, std::size_t segment) {
  std::vector<std::uint32_t> found;
  for (const trace::PartRange& range : parts.visible()) {
    if (range.segment == segment && (found.empty() || found.back() != range.part))
      found.push_back(range.part);
  }
  return found;
}

std::vector<SegmentName> segmentNamesOf(const std::vector<trace::SegmentInfo>& segments,
                                        const RequestParts& request) {
  std::vector<SegmentName> names(segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    SegmentName& own = names[i];
    own.hidden = segments[i].hidden;
    const std::vector<std::uint32_t> parts = partsOf(request.parts, i);
    if (own.hidden) {
      own.name = tr("hidden prefix");
    } else if (parts.size() == 1) {
      own.name = request.names[parts.front()].name;
      own.hue = request.names[parts.front()].hue;
    } else if (!parts.empty()) {
      own.name = tr("%1 to %2").arg(request.names[parts.front()].name, request.names[parts.back()].name);
      own.hue = request.names[parts.front()].hue;
    }
  }
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    if (const auto copy = trace::copyOf(segments, i)) {
      names[i].name = tr("%1, stored").arg(names[*copy].name);
      names[i].hue = names[*copy].hue;
    }
    if (!isLinked(segments, i)) continue;
    names[i + 1].name = names[i].name;
    names[i + 1].hue = names[i].hue;
    names[i].linked = true;
    names[i].name = tr("%1, linked").arg(names[i].name);
  }
  return names;
}

/// The fields of a segment on which names depend.
trace::SegmentInfo infoOf(const layout::Segment& segment) {
  trace::SegmentInfo info;
  info.node = segment.node;
  info.independent = segment.independent;
  info.hidden = segment.hidden;
  info.scope = segment.scope;
  info.depth = segment.depth;
  info.base = segment.base;
  info.visibleBegin = segment.visibleBegin;
  info.tokens.resize(segment.tokens.size());
  for (const layout::TokenRun& run : segment.runs) {
    const bool isOutput = run.source == layout::TokenRun::Source::Output;
    info.runs.push_back({.count = run.count,
                         .source = isOutput ? trace::TokenSource::Output : trace::TokenSource::Text,
                         .node = run.node});
  }
  return info;
}

}  // namespace

QString RequestParts::nameOf(std::uint32_t segment, std::int32_t begin, std::int32_t end) const {
  QStringList found;
  for (const trace::PartRange& range : parts.visible()) {
    if (range.segment != segment || std::max(range.begin, begin) >= std::min(range.end, end)) continue;
    if (found.isEmpty() || found.back() != names[range.part].name) found << names[range.part].name;
  }
  if (found.isEmpty()) {
    const auto part = parts.partAt(segment, begin);
    return part ? names[*part].name : QString();
  }
  return found.size() == 1 ? found.front() : tr("%1 and %2").arg(found.front(), found.back());
}

RequestParts requestParts(const ViewInput& input, RequestId request) {
  RequestParts result;
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(request);
  if (found == requests.end()) return result;
  const RunId run = found->second.run;
  const auto all = input.partIdentities();
  RunNodes nodes(input, run);
  result.parts = promptParts(input, request);
  result.names = partNamesOf(found->second.segments, result.parts, nodes, *all,
                             [&](const NodePath& path) { return all->ofRun(run, path); });
  for (std::size_t part = 0; part < result.names.size(); ++part)
    result.names[part].id = input.nodeOf(run, result.parts.info(part).node);
  return result;
}

RequestParts requestParts(const ViewInput& input, const DocumentPrediction& prediction,
                          const layout::SpanTable& table) {
  RequestParts result;
  std::vector<trace::SegmentInfo> segments;
  segments.reserve(table.segments.size());
  for (const layout::Segment& segment : table.segments) segments.push_back(infoOf(segment));
  const trace::PromptDivided divided = run::partsEvent(table);
  const auto all = input.partIdentities();
  RunNodes nodes(input, prediction);
  result.parts = trace::PromptParts(segments, &divided);
  result.names = partNamesOf(segments, result.parts, nodes, *all, [&](const NodePath& path) {
    return all->ofNode(prediction.paths.nodeOf(path));
  });
  for (std::size_t part = 0; part < result.names.size(); ++part)
    result.names[part].id = prediction.paths.nodeOf(result.parts.info(part).node);
  return result;
}

std::vector<SegmentName> segmentNames(const ViewInput& input, RequestId request) {
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(request);
  if (found == requests.end()) return {};
  return segmentNamesOf(found->second.segments, requestParts(input, request));
}

std::vector<SegmentName> segmentNames(const ViewInput& input, const DocumentPrediction& prediction,
                                      const layout::SpanTable& table) {
  std::vector<trace::SegmentInfo> segments;
  segments.reserve(table.segments.size());
  for (const layout::Segment& segment : table.segments) segments.push_back(infoOf(segment));
  return segmentNamesOf(segments, requestParts(input, prediction, table));
}

QString nodeName(const ViewInput& input, RunId run, const NodePath& path) {
  RunNodes nodes(input, run);
  const document::DocumentNode* node = nodes.inDocument(path);
  if (node != nullptr && !node->name.empty()) return QString::fromStdString(node->name);
  const query::Node* own = nodes.find(path);
  return own == nullptr ? tr("node") : nodeLabel(*own);
}

QString requestDetail(const trace::Replay& state, RequestId request) {
  const auto& requests = state.progress().requests;
  const auto found = requests.find(request);
  if (found == requests.end()) return {};
  const trace::RequestState& own = found->second;
  const auto run = state.progress().runs.find(own.run);
  if (run == state.progress().runs.end() || run->second.requests.size() < 2) return {};
  const auto copies =
      std::count_if(run->second.requests.begin(), run->second.requests.end(), [&](RequestId other) {
        const auto sibling = requests.find(other);
        return sibling != requests.end() && sibling->second.node == own.node;
      });
  const QString step = tr("step %1").arg(own.step + 1);
  return copies < 2 ? step : tr("request %2 of %1").arg(step).arg(own.copy + 1);
}

QString requestName(const trace::Replay& state, RequestId request) {
  const auto& requests = state.progress().requests;
  const auto found = requests.find(request);
  if (found == requests.end()) return tr("request %1").arg(request);
  const QString run = tr("run %1").arg(found->second.run);
  const QString detail = requestDetail(state, request);
  return detail.isEmpty() ? run : tr("%1, %2").arg(run, detail);
}

QString StepNames::of(RunId run, StepIndex step) {
  auto [names, isNew] = m_names.try_emplace(run);
  if (isNew) names->second = stepNames(m_input, m_progress, run);
  const auto found = names->second.find(step);
  return found == names->second.end() ? tr("step %1").arg(step) : found->second;
}

namespace {

bool fits(const QString& text, double room, const QFontMetrics& metrics) {
  return metrics.horizontalAdvance(text) <= room;
}

/// The name, or its beginning and end. Empty if too few letters of the beginning would be left, because a
/// part of a word is a riddle.
QString cutName(const QString& name, double room, const QFontMetrics& metrics) {
  if (fits(name, room, metrics)) return name;
  const QString cut = metrics.elidedText(name, Qt::ElideMiddle, static_cast<int>(room));
  return cut.indexOf(QChar(0x2026)) >= kFewestNameLetters ? cut : QString();
}

/// The name of a file without its ending; nothing: the text is no file name.
std::optional<QString> stemOf(const QString& name) {
  constexpr qsizetype kLongestEnding = 5;
  const qsizetype dot = name.lastIndexOf(QLatin1Char('.'));
  if (dot <= 0 || name.size() - dot - 1 > kLongestEnding || dot + 1 >= name.size()) return std::nullopt;
  const bool isEnding =
      std::all_of(name.begin() + dot + 1, name.end(), [](QChar letter) { return letter.isLetterOrNumber(); });
  return isEnding ? std::optional(name.left(dot)) : std::nullopt;
}

/// File names, all shortened in the same way: without their endings, then to the letters that fit everywhere,
/// then to the numbers at their beginnings.
void shortenFiles(const std::vector<NameRoom>& names, const std::vector<std::size_t>& files,
                  const QFontMetrics& metrics, std::vector<QString>& result) {
  const auto all = [&](const auto& textOf) {
    return std::all_of(files.begin(), files.end(),
                       [&](std::size_t i) { return fits(textOf(names[i].name), names[i].room, metrics); });
  };
  const auto use = [&](const auto& textOf) {
    for (const std::size_t i : files) {
      const QString text = textOf(names[i].name);
      result[i] = fits(text, names[i].room, metrics) ? text : QString();
    }
  };
  const auto whole = [](const QString& name) { return name; };
  const auto stem = [](const QString& name) { return *stemOf(name); };
  if (all(whole)) return use(whole);
  if (all(stem)) return use(stem);
  qsizetype longest = 0;
  for (const std::size_t i : files) longest = std::max(longest, stem(names[i].name).size());
  for (qsizetype letters = longest - 1; letters >= kFewestNameLetters; --letters) {
    const auto cut = [&](const QString& name) {
      const QString text = stem(name);
      return text.size() <= letters + 1 ? text : text.left(letters) + QChar(0x2026);
    };
    if (all(cut)) return use(cut);
  }
  use([&](const QString& name) {
    qsizetype digits = 0;
    while (digits < name.size() && name.at(digits).isDigit()) ++digits;
    return name.left(digits);
  });
}

}  // namespace

std::vector<QString> shortNames(const std::vector<NameRoom>& names, const QFontMetrics& metrics) {
  std::vector<QString> result(names.size());
  std::map<QString, std::vector<std::size_t>> families;
  std::vector<std::size_t> files;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const NumberedName parts = splitName(names[i].name);
    if (stemOf(names[i].name)) {
      files.push_back(i);
    } else if (parts.number.isEmpty()) {
      result[i] = cutName(names[i].name, names[i].room, metrics);
    } else {
      families[parts.family].push_back(i);
    }
  }
  shortenFiles(names, files, metrics, result);
  std::vector<const std::vector<std::size_t>*> numbersOnly;
  for (const auto& [family, members] : families) {
    std::vector<QStringList> forms;
    for (const std::size_t i : members) forms.push_back(shortForms(names[i].name));
    const qsizetype last = forms.front().size() - 1;
    qsizetype at = 0;
    const auto fitsAt = [&](std::size_t member) {
      return fits(forms[member][at], names[members[member]].room, metrics);
    };
    for (std::size_t member = 0; at < last && member < members.size();) {
      // A shorter form fits wherever a longer form does.
      if (fitsAt(member))
        ++member;
      else
        ++at;
    }
    if (at > 0 && at == last) numbersOnly.push_back(&members);
    for (std::size_t member = 0; member < members.size(); ++member)
      result[members[member]] = fitsAt(member) ? forms[member][at] : QString();
  }
  // "1 2 1 2" does not show which number belongs to which family.
  if (numbersOnly.size() < 2) return result;
  for (const std::vector<std::size_t>* members : numbersOnly) {
    for (const std::size_t i : *members) result[i].clear();
  }
  return result;
}

std::vector<std::vector<QString>> formsOfRow(const std::vector<QString>& names) {
  std::map<QString, std::vector<std::size_t>> families;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const NumberedName parts = splitName(names[i]);
    if (!parts.number.isEmpty() && !parts.family.isEmpty()) families[parts.family].push_back(i);
  }
  const auto largest =
      std::ranges::max_element(families, {}, [](const auto& family) { return family.second.size(); });
  std::vector<std::vector<QString>> rows{names};
  for (qsizetype step = 1;; ++step) {
    std::vector<QString> row = names;
    for (auto family = families.begin(); family != families.end(); ++family) {
      for (const std::size_t i : family->second) {
        const QStringList forms = shortForms(names[i]);
        const qsizetype last = forms.size() - (family == largest ? 1 : 2);
        row[i] = forms[std::clamp<qsizetype>(step, 0, std::max<qsizetype>(0, last))];
      }
    }
    if (row == rows.back()) return rows;
    rows.push_back(std::move(row));
  }
}

QString shortName(const QString& name, double room, const QFontMetrics& metrics) {
  return shortNames({{.name = name, .room = room}}, metrics).front();
}

namespace {

/// Where a name may begin.
struct NameSpan {
  int least = 0;
  int most = 0;
  int ideal = 0;
  int width = 0;
};

/// Nothing: the name cannot be above its bracket.
std::optional<NameSpan> spanOf(const NamedBracket& bracket, const QString& text, int begin, int end,
                               const QFontMetrics& metrics) {
  const QRect& place = bracket.place;
  const int width = metrics.horizontalAdvance(text);
  if (text.isEmpty() || (bracket.isCut && width > place.width())) return std::nullopt;
  const int after = place.left() + place.width();
  const int covered = bracket.isCut ? width : (std::min(width, place.width()) + 1) / 2;
  NameSpan span{.least = std::max(begin, place.left() + covered - width),
                .most = std::min(end - width, after - covered),
                .width = width};
  if (span.least > span.most) return std::nullopt;
  span.ideal = std::clamp(place.left() + (place.width() - width) / 2, span.least, span.most);
  return span;
}

/// The indices of as many names as fit side by side.
std::vector<std::size_t> mostNames(const std::vector<std::optional<NameSpan>>& spans) {
  int free = std::numeric_limits<int>::min() / 2;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!spans[i]) continue;
    const int left = std::max(spans[i]->least, free);
    if (left > spans[i]->most) break;
    free = left + spans[i]->width + kBetweenNames;
    all.push_back(i);
  }
  const auto there = std::ranges::count_if(spans, [](const auto& span) { return span.has_value(); });
  if (all.size() == static_cast<std::size_t>(there)) return all;
  // The names that end first, for each count of names.
  struct Chosen {
    int end = 0;
    std::vector<std::size_t> names;
  };
  std::vector<Chosen> best{{.end = std::numeric_limits<int>::min() / 2, .names = {}}};
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!spans[i]) continue;
    for (std::size_t count = best.size(); count-- > 0;) {
      const int left = std::max(spans[i]->least, best[count].end + kBetweenNames);
      if (left > spans[i]->most) continue;
      const int end = left + spans[i]->width;
      if (count + 1 < best.size() && best[count + 1].end <= end) continue;
      Chosen next{.end = end, .names = best[count].names};
      next.names.push_back(i);
      if (count + 1 < best.size())
        best[count + 1] = std::move(next);
      else
        best.push_back(std::move(next));
    }
  }
  return best.back().names;
}

/// Places names that fit side by side, each as near to the middle of its bracket as the others permit.
std::vector<BracketName> placedNames(const std::vector<std::optional<NameSpan>>& spans,
                                     const std::vector<std::size_t>& chosen,
                                     const std::vector<QString>& texts) {
  std::vector<BracketName> names(texts.size());
  std::vector<int> most(chosen.size());
  for (std::size_t i = chosen.size(); i-- > 0;) {
    most[i] = spans[chosen[i]]->most;
    if (i + 1 < chosen.size())
      most[i] = std::min(most[i], most[i + 1] - kBetweenNames - spans[chosen[i]]->width);
  }
  int free = std::numeric_limits<int>::min();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const NameSpan& span = *spans[chosen[i]];
    names[chosen[i]] = {.left = std::max(free, std::min(span.ideal, most[i])), .text = texts[chosen[i]]};
    free = names[chosen[i]].left + span.width + kBetweenNames;
  }
  return names;
}

}  // namespace

std::vector<BracketName> bracketNames(const std::vector<NamedBracket>& brackets, int begin, int end,
                                      const QFontMetrics& metrics) {
  std::vector<QString> names;
  std::vector<NameRoom> rooms;
  for (std::size_t i = 0; i < brackets.size(); ++i) {
    const QRect& place = brackets[i].place;
    const int next = i + 1 < brackets.size() ? brackets[i + 1].place.left() : end;
    names.push_back(brackets[i].name);
    rooms.push_back({brackets[i].name, double(std::max(place.width(), next - place.left() - kBetweenNames))});
  }
  const auto spansOf = [&](const std::vector<QString>& texts) {
    std::vector<std::optional<NameSpan>> spans;
    for (std::size_t i = 0; i < texts.size(); ++i)
      spans.push_back(spanOf(brackets[i], texts[i], begin, end, metrics));
    return spans;
  };
  // Cut brackets do not decide the form of the names.
  const auto wanted = static_cast<std::size_t>(
      std::ranges::count_if(brackets, [](const NamedBracket& bracket) { return !bracket.isCut; }));
  const auto countOf = [&](const std::vector<std::size_t>& chosen) {
    return static_cast<std::size_t>(
        std::ranges::count_if(chosen, [&](std::size_t i) { return !brackets[i].isCut; }));
  };
  std::vector<QString> texts;
  std::vector<std::optional<NameSpan>> spans;
  std::vector<std::size_t> chosen;
  std::vector<std::vector<QString>> forms = formsOfRow(names);
  forms.push_back(shortNames(rooms, metrics));
  for (std::vector<QString>& form : forms) {
    std::vector<std::optional<NameSpan>> own = spansOf(form);
    std::vector<std::size_t> most = mostNames(own);
    if (!texts.empty() && countOf(most) <= countOf(chosen)) continue;
    texts = std::move(form);
    spans = std::move(own);
    chosen = std::move(most);
    if (countOf(chosen) == wanted) break;
  }
  return placedNames(spans, chosen, texts);
}

namespace {

ViewInput atEnd(ViewInput input) {
  input.position = input.trace->size();
  return input;
}

/// The virtual block of an event; nothing: the event has none.
std::optional<trace::BlockPlace> placeOf(const trace::Event& event) {
  return std::visit(
      [](const auto& payload) -> std::optional<trace::BlockPlace> {
        if constexpr (requires { payload.segment, payload.virtualIndex; }) {
          return trace::BlockPlace{payload.segment, payload.virtualIndex};
        } else {
          return std::nullopt;
        }
      },
      event.payload);
}

}  // namespace

EventNames::EventNames(const ViewInput& input)
    : m_input(atEnd(input)), m_state(m_input.trace->newest()), m_steps(m_input, m_state.progress()) {}

const RequestParts& EventNames::partsOf(RequestId request) {
  const auto [parts, isNew] = m_parts.try_emplace(request);
  if (isNew) parts->second = requestParts(m_input, request);
  return parts->second;
}

QString EventNames::partOf(const trace::Event& event) {
  if (event.request == 0) return {};
  const auto place = placeOf(event);
  if (!place && event.node.empty()) return {};
  const RequestParts& own = partsOf(event.request);
  if (place) {
    const std::int32_t size = std::max(1, m_state.pool().blockSize());
    const std::int64_t first = std::int64_t{place->virtualIndex} * size;
    if (first > std::numeric_limits<std::int32_t>::max() - size) return {};
    return own.nameOf(place->segment, static_cast<std::int32_t>(first),
                      static_cast<std::int32_t>(first) + size);
  }
  for (std::uint32_t part = 0; part < own.names.size(); ++part) {
    if (own.parts.info(part).node == event.node) return own.names[part].name;
  }
  return {};
}

QString EventNames::stepOf(const trace::Event& event) {
  const auto& requests = m_state.progress().requests;
  const auto request = requests.find(event.request);
  if (request == requests.end()) return {};
  return m_steps.of(request->second);
}

QString EventNames::of(const trace::Event& event) {
  QStringList parts{QCoreApplication::translate("Events", trace::plainNameOf(event))};
  if (event.run != 0) parts += tr("run %1").arg(event.run);
  const QString step = stepOf(event);
  const QString part = partOf(event);
  if (std::holds_alternative<trace::TokenGenerated>(event.payload)) {
    parts += step.isEmpty() ? tr("answer") : tr("answer of %1").arg(step);
  } else if (!part.isEmpty()) {
    // In a run of one step, events do not repeat the step's name.
    const auto run = m_state.progress().runs.find(event.run);
    const bool isOnly = run == m_state.progress().runs.end() || run->second.requests.size() < 2;
    parts += step.isEmpty() || isOnly ? part : tr("%1 of %2").arg(part, step);
  } else if (!step.isEmpty()) {
    parts += step;
  }
  const QString detail =
      eventText(trace::detailOf(event), [&](StepIndex index) { return m_steps.of(event.run, index); });
  if (!detail.isEmpty()) parts += detail;
  return parts.join(tr(" · "));
}

QString exactText(const trace::Event& event) {
  constexpr qsizetype kMostLetters = 160;
  QString text = QString::fromStdString(trace::describe(event)).simplified();
  if (text.size() > kMostLetters) text = text.left(kMostLetters) + QStringLiteral("…");
  return text;
}

}  // namespace spanscope::ui
