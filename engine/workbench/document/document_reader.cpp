// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/utf8.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/query/parameters.h"
#include "engine/query/shown_text.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/document_text.h"
#include "engine/workbench/document/edits.h"
#include "engine/workbench/document/json_fields.h"
#include "engine/workbench/setting_choices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <variant>

namespace spanscope::document {
namespace {

constexpr std::size_t kMostNodes = 1'000'000;
constexpr std::size_t kMostDecorations = 10'000;  ///< frames, notes, drafts, parameters
constexpr std::size_t kMostName = std::size_t{1} << 16U;
constexpr std::size_t kMostText = std::size_t{16} << 20U;
constexpr std::size_t kHashDigits = 32;
constexpr double kFarthest = 1e9;      ///< scene pixels
constexpr double kFarthestBend = 1e5;  ///< scene pixels from the node whose wire has the point

/// The layout of one node.
struct Looks {
  std::size_t offset = 0;
  std::optional<Point> position;
  std::vector<Point> bends;
  std::string name;
  bool collapsed = false;
  bool muted = false;
  bool missing = false;
  std::vector<std::string> frozen;
  std::string server;
  std::map<std::string, PassageMark> passages;
};

struct Tree {
  std::string pointer;  ///< of its query
  std::optional<query::SourceRange> query;
  std::map<NodePath, Looks> looks;
};

struct FileContent {
  bool hasVersion = false;
  Tree root;
  std::vector<Tree> drafts;
  std::map<std::string, std::string> parameters;
  std::vector<query::ParameterDeclaration> declarations;
  RunSettings settings;
  std::vector<Frame> frames;
  std::vector<Note> notes;
};

class FileReader {
 public:
  explicit FileReader(JsonFields& fields) : m_fields(fields) {}

  FileContent read() {
    FileContent content;
    content.root.pointer = "/query";
    m_fields.object([&](const std::string& key) {
      if (key == "spanscope")
        readHead(content);
      else if (key == "query")
        content.root.query = m_fields.raw();
      else if (key == "layout")
        readLayout(content.root, &content);
      else if (key == "parameters")
        readParameters(content);
      else if (key == "settings")
        readSettings(content.settings);
      else if (key == "drafts")
        readDrafts(content);
      else
        return false;
      return true;
    });
    m_fields.expectEnd();
    if (m_fields.stopped()) return content;
    if (!content.hasVersion) m_fields.error(0, "no version", "\"spanscope\": {\"version\": 1}");
    if (!content.root.query) m_fields.error(0, "no query", "the field \"query\"");
    return content;
  }

 private:
  void readHead(FileContent& content) {
    m_fields.object([&](const std::string& key) {
      if (key != "version") return false;
      const std::size_t offset = m_fields.offset();
      const std::optional<std::int64_t> version = m_fields.whole(1, std::numeric_limits<std::int32_t>::max());
      content.hasVersion = true;
      if (version && *version != kDocumentVersion) {
        m_fields.error(offset, "version " + std::to_string(*version),
                       "version " + std::to_string(kDocumentVersion),
                       "a newer version of Spanscope wrote the file");
      }
      return true;
    });
  }

  void readLayout(Tree& tree, FileContent* content) {
    m_fields.object([&](const std::string& key) {
      if (key == "nodes") {
        m_fields.map(kMostNodes, [&](const std::string& path) { tree.looks[path] = readLooks(); });
      } else if (key == "frames" && content != nullptr) {
        m_fields.array(kMostDecorations, [&](std::size_t) { content->frames.push_back(readFrame()); });
      } else if (key == "notes" && content != nullptr) {
        m_fields.array(kMostDecorations, [&](std::size_t) { content->notes.push_back(readNote()); });
      } else {
        return false;
      }
      return true;
    });
  }

  Looks readLooks() {
    Looks looks;
    looks.offset = m_fields.offset();
    m_fields.object([&](const std::string& key) {
      if (key == "position") {
        if (const auto at = m_fields.numbers(2, -kFarthest, kFarthest))
          looks.position = Point{at->at(0), at->at(1)};
      } else if (key == "bends") {
        m_fields.array(kMostBends, [&](std::size_t) {
          const std::size_t offset = m_fields.offset();
          const auto at = m_fields.numbers(2, -kFarthest, kFarthest);
          if (!at) return;
          if (std::max(std::abs(at->at(0)), std::abs(at->at(1))) > kFarthestBend)
            m_fields.warning(offset, "a reroute point that is too far from its node",
                             "offsets from -100000 to 100000", "Spanscope leaves out this point");
          else
            looks.bends.push_back({.x = at->at(0), .y = at->at(1)});
        });
      } else if (key == "name") {
        looks.name = m_fields.text(kMostName).value_or("");
      } else if (key == "collapsed") {
        looks.collapsed = m_fields.flag().value_or(false);
      } else if (key == "muted") {
        looks.muted = m_fields.flag().value_or(false);
      } else if (key == "missing") {
        looks.missing = m_fields.flag().value_or(false);
      } else if (key == "server") {
        looks.server = m_fields.text(kMostName).value_or("");
      } else if (key == "frozen") {
        readFrozen(looks);
      } else if (key == "pinned") {
        readMarks(looks, PassageMark::Pinned);
      } else if (key == "dropped") {
        readMarks(looks, PassageMark::Dropped);
      } else {
        return false;
      }
      return true;
    });
    return looks;
  }

  /// Reads one answer as a text, or several as a list of texts.
  void readFrozen(Looks& looks) {
    const std::size_t offset = m_fields.offset();
    const auto readAnswer = [&] {
      if (std::optional<std::string> answer = m_fields.text(kMostText))
        looks.frozen.push_back(std::move(*answer));
    };
    if (!m_fields.listFollows()) {
      readAnswer();
    } else if (m_fields.array(kMostNodes, [&](std::size_t) { readAnswer(); }) && looks.frozen.empty()) {
      m_fields.error(offset, "no answer", /*id:text-list-texts*/ "a text or a list of texts");
    }
  }

  void readMarks(Looks& looks, PassageMark mark) {
    m_fields.array(kMostDecorations, [&](std::size_t) {
      const std::size_t offset = m_fields.offset();
      const std::optional<std::string> hash = m_fields.text(kMostName);
      if (!hash) return;
      if (hash->size() != kHashDigits || hash->find_first_not_of("0123456789abcdef") != std::string::npos)
        m_fields.error(offset, "\"" + query::cutText(*hash, 40) + "\"", "32 hexadecimal digits");
      else if (!looks.passages.emplace(*hash, mark).second)
        m_fields.error(offset, /*id:passage-named-before*/ "a repeated passage", "each passage once");
    });
  }

  void readArea(Rect& area) {
    const std::size_t offset = m_fields.offset();
    const auto numbers = m_fields.numbers(4, -kFarthest, kFarthest);
    if (!numbers) return;
    area = {.x = numbers->at(0), .y = numbers->at(1), .width = numbers->at(2), .height = numbers->at(3)};
    if (area.width < 0 || area.height < 0)
      m_fields.error(offset, "a negative size", "a width and a height from 0");
  }

  Frame readFrame() {
    Frame frame;
    m_fields.object([&](const std::string& key) {
      if (key == "title")
        frame.title = m_fields.text(kMostName).value_or("");
      else if (key == "area")
        readArea(frame.area);
      else if (key == "hue")
        frame.hue = static_cast<std::uint32_t>(m_fields.whole(0, 5).value_or(0));
      else
        return false;
      return true;
    });
    return frame;
  }

  Note readNote() {
    Note note;
    m_fields.object([&](const std::string& key) {
      if (key == "text")
        note.text = m_fields.text(kMostText).value_or("");
      else if (key == "area")
        readArea(note.area);
      else
        return false;
      return true;
    });
    return note;
  }

  void readParameters(FileContent& content) {
    m_fields.map(kMostDecorations, [&](const std::string& name) {
      if (m_fields.objectFollows())
        readParameter(name, content);
      else
        content.parameters[name] = m_fields.text(kMostText).value_or("");
    });
  }

  void readParameter(const std::string& name, FileContent& content) {
    query::ParameterDeclaration declaration{.name = name, .kind = {}, .defaultValue = {}, .description = {}};
    m_fields.object([&](const std::string& key) {
      if (key == "value")
        content.parameters[name] = m_fields.text(kMostText).value_or("");
      else if (key == "type")
        declaration.kind = readKind();
      else if (key == "default")
        declaration.defaultValue = m_fields.text(kMostText);
      else if (key == "description")
        declaration.description = m_fields.text(kMostText).value_or("");
      else
        return false;
      return true;
    });
    if (!declaration.isEmpty()) content.declarations.push_back(std::move(declaration));
  }

  std::optional<query::ParameterKind> readKind() {
    std::vector<std::string> names;
    for (const query::ParameterKind kind : query::parameterKinds())
      names.emplace_back(query::parameterKindName(kind));
    std::string name;
    readChoice(name, names);
    return query::parameterKindOf(name);
  }

  /// Reads one of the names. `value` does not change for any other text.
  void readChoice(std::string& value, const std::vector<std::string>& names) {
    readChoice(value, names,
               [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); });
  }

  template <class IsOne>
  void readChoice(std::string& value, const std::vector<std::string>& names, const IsOne& isOne) {
    const std::size_t offset = m_fields.offset();
    const std::optional<std::string> read = m_fields.text(kMostName);
    if (!read) return;
    if (isOne(*read)) {
      value = *read;
      return;
    }
    std::string expected;
    for (const std::string& name : names) expected += (expected.empty() ? "\"" : " or \"") + name + "\"";
    m_fields.error(offset, "\"" + query::cutText(*read, 40) + "\"", expected);
  }

  void readSettings(RunSettings& settings) {
    m_fields.object([&](const std::string& key) {
      const workbench::Setting* const setting = workbench::findSetting(key);
      if (setting == nullptr) return false;
      std::visit([&](auto member) { readSetting(settings.*member, *setting); }, setting->member);
      return true;
    });
  }

  void readSetting(std::string& value, const workbench::Setting& setting) {
    if (setting.choices == nullptr) {
      value = m_fields.text(setting.isLong ? kMostText : kMostName).value_or("");
      return;
    }
    std::vector<std::string> names;
    for (const workbench::Choice& choice : setting.choices()) names.push_back(choice.name);
    readChoice(value, names, [&](const std::string& name) { return workbench::mayBe(setting, name); });
    value = workbench::currentName(setting, value);
  }

  void readSetting(bool& value, const workbench::Setting&) { value = m_fields.flag().value_or(value); }

  void readSetting(std::uint64_t& value, const workbench::Setting&) {
    value = m_fields.natural().value_or(value);
  }

  template <class Whole>
  void readSetting(Whole& value, const workbench::Setting& setting) {
    value = static_cast<Whole>(m_fields.whole(setting.range.least, setting.range.most).value_or(value));
  }

  void readSetting(std::vector<std::int32_t>& value, const workbench::Setting& setting) {
    value.clear();
    m_fields.array(kMostDecorations, [&](std::size_t) { readSetting(value.emplace_back(), setting); });
  }

  void readDrafts(FileContent& content) {
    m_fields.array(kMostDecorations, [&](std::size_t) {
      Tree draft;
      const std::size_t offset = m_fields.offset();
      draft.pointer = m_fields.pointer() + "/query";
      m_fields.object([&](const std::string& key) {
        if (key == "query")
          draft.query = m_fields.raw();
        else if (key == "layout")
          readLayout(draft, nullptr);
        else
          return false;
        return true;
      });
      if (!draft.query)
        m_fields.error(offset, /*id:draft-without-query*/ "a draft without a query", "the field \"query\"");
      content.drafts.push_back(std::move(draft));
    });
  }

  JsonFields& m_fields;
};

/// Reads the query of a tree at its place in the file. Problems go to `diagnostics`.
query::ParseResult readQuery(std::string_view text, const Tree& tree,
                             std::vector<query::Diagnostic>& diagnostics) {
  if (!tree.query) return {};
  const query::SourceRange range = *tree.query;
  query::ParseResult result = query::parseJson(text.substr(range.begin, range.end - range.begin));
  for (query::Diagnostic& diagnostic : result.diagnostics) {
    diagnostic.offset += range.begin;
    diagnostic.pointer.insert(0, tree.pointer);
    const auto same = [&diagnostic](const query::Diagnostic& other) {
      return other.offset == diagnostic.offset && other.found == diagnostic.found;
    };
    if (std::ranges::none_of(diagnostics, same)) diagnostics.push_back(std::move(diagnostic));
  }
  return result;
}

bool isMissingInput(const Document& document, NodeId id) {
  const DocumentNode& node = document.at(id);
  const auto* join = node.own.as<query::Join>();
  if (join == nullptr || join->kind != query::JoinKind::Seq || !node.children.empty()) return false;
  return node.parent == kNoNode || arityOf(document.at(node.parent).own).most != Arity::kMany;
}

void applyLooks(Document& document, NodeId top, const Tree& tree,
                std::vector<query::Diagnostic>& diagnostics) {
  const auto paths = pathsInTree(document, top);
  const std::map<std::string, NodeId> byPath(paths.begin(), paths.end());
  std::vector<NodeId> missing;
  for (const auto& [path, looks] : tree.looks) {
    const auto leaveOut = [&, at = looks.offset](const char* found) {
      diagnostics.push_back({.severity = Severity::Warning,
                             .pointer = {},
                             .position = {},
                             .offset = at,
                             .found = found + query::cutText(path, 80),
                             .expected = {},
                             .hint = "Spanscope leaves out this entry"});
    };
    const auto found = byPath.find(path);
    if (found == byPath.end()) {
      leaveOut("a layout of a node that is not in the query: ");
      continue;
    }
    if (looks.missing) {
      if (isMissingInput(document, found->second))
        missing.push_back(found->second);
      else
        leaveOut(/*id:missing-input-where*/ "a name of a missing input, for an input that exists: ");
      continue;
    }
    if (!looks.passages.empty() && query::documentOf(document.at(found->second).own) == nullptr)
      leaveOut(/*id:passages-node-finds*/ "pinned or dropped passages of a node that retrieves none: ");
    const std::size_t mostFrozen = mostAnswers(document.at(found->second).own);
    if (looks.frozen.size() > mostFrozen)
      leaveOut(
          mostFrozen == 0
              ? /*id:frozen-reply-node*/ "a frozen answer of a node that gives no answer: "
              : /*id:several-frozen-replies*/ "several frozen answers of a node that gives one answer: ");
    if (!looks.server.empty() && mostFrozen == 0) leaveOut("a server of a node that gives no answer: ");
    const bool hasParent = document.at(found->second).parent != kNoNode;
    if (!looks.bends.empty() && !hasParent) leaveOut("reroute points of a node without a parent: ");
    if (!looks.position && looks.bends.empty() && looks.name.empty() && !looks.collapsed && !looks.muted &&
        looks.frozen.empty() && looks.server.empty() && looks.passages.empty())
      continue;
    DocumentNode& node = document.edit(found->second);
    node.position = looks.position;
    if (hasParent) node.bends = looks.bends;
    node.name = looks.name;
    node.collapsed = looks.collapsed;
    node.muted = looks.muted;
    if (mostFrozen > 0) node.server = looks.server;
    if (looks.frozen.size() <= mostFrozen) node.frozen = looks.frozen;
    if (query::documentOf(node.own) != nullptr) node.passages = looks.passages;
  }
  removeSubtrees(document, missing);
}

void finish(std::vector<query::Diagnostic>& diagnostics, std::string_view text) {
  std::ranges::stable_sort(diagnostics, {}, &query::Diagnostic::offset);
  query::locate(diagnostics, text);
}

}  // namespace

bool isDocumentText(std::string_view text) {
  if (text.size() > query::ParseLimits{}.maxBytes) return false;
  if (findInvalidUtf8(text) != std::string_view::npos) return false;
  JsonFields fields(text);
  if (fields.offset() >= text.size() || text[fields.offset()] != '{') return false;
  bool found = false;
  fields.object([&](const std::string& key) {
    found = found || key == "spanscope";
    fields.raw();
    return true;
  });
  return found;
}

OpenedDocument readDocument(std::string_view text) {
  OpenedDocument opened;
  if (!isDocumentText(text)) {
    query::ParseResult result = query::parseJson(text);
    opened.plainQuery = true;
    opened.diagnostics = std::move(result.diagnostics);
    if (result.query) opened.document = fromQuery(*result.query);
    opened.sources = std::move(result.sources);
    return opened;
  }

  JsonFields fields(text);
  const FileContent content = FileReader(fields).read();
  opened.diagnostics = fields.take();
  query::ParseResult root = readQuery(text, content.root, opened.diagnostics);
  std::vector<query::Node> drafts;
  for (const Tree& tree : content.drafts) {
    if (std::optional<query::Node> draft = readQuery(text, tree, opened.diagnostics).query)
      drafts.push_back(std::move(*draft));
  }
  if (root.query && !query::hasErrors(opened.diagnostics)) {
    Document document = fromQuery(*root.query);
    std::vector<NodeId> tops;
    for (const query::Node& draft : drafts) tops.push_back(addTree(document, draft));
    // From last to first: if the whole query is missing, a draft would become the root.
    for (std::size_t i = tops.size(); i-- > 0;)
      applyLooks(document, tops[i], content.drafts[i], opened.diagnostics);
    applyLooks(document, document.root(), content.root, opened.diagnostics);
    document.parameters = content.parameters;
    document.declarations = content.declarations;
    document.settings = content.settings;
    document.frames = content.frames;
    document.notes = content.notes;
    for (Frame& frame : document.frames) frame.id = document.takeId();
    for (Note& note : document.notes) note.id = document.takeId();
    opened.document = std::move(document);
    opened.sources = std::move(root.sources);
    opened.queryBegin = content.root.query->begin;
  }
  finish(opened.diagnostics, text);
  return opened;
}

}  // namespace spanscope::document
