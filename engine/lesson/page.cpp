// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/page.h"

#include "engine/base/counted.h"
#include "engine/base/utf8.h"
#include "engine/query/shown_text.h"
#include "engine/trace/line_pieces.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>
#include <variant>

namespace spanscope::lesson {

namespace {

/// The colours of the window's blocks, light and dark. The picture has patterns too.
constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --ink:#1f2430; --soft:#5b6472; --page:#ffffff; --box:#f3f5f8; --line:#d5dae1;
  --hit:#d6f0e5; --hit-ink:#12805c; --relocated:#d7e8fa; --relocated-ink:#1667b8;
  --computed:#fce8cf; --computed-ink:#b45f06; }
@media (prefers-color-scheme: dark) { :root { --ink:#e4e7ec; --soft:#a3acb9; --page:#171a20; --box:#20252d;
  --line:#39414d; --hit:#14382c; --hit-ink:#4cc79a; --relocated:#15324e; --relocated-ink:#62aef5;
  --computed:#46300f; --computed-ink:#f0a24a; } }
body { background:var(--page); color:var(--ink); font:17px/1.6 system-ui, sans-serif; max-width:46rem;
  margin:2rem auto; padding:0 1rem; }
h1 { line-height:1.2; } h2 { margin-top:3rem; border-top:1px solid var(--line); padding-top:1.5rem; }
.head, figcaption { color:var(--soft); } figcaption { font-size:0.85em; }
ul.actions li { font-size:0.9em; }
code, pre { font-family:ui-monospace, monospace; font-size:0.9em; background:var(--box); }
code { padding:0.1em 0.3em; border-radius:3px; } pre { padding:0.8rem; overflow-x:auto; } pre code { padding:0; }
.figure { font-weight:600; font-variant-numeric:tabular-nums; border-bottom:1px dotted var(--soft); }
.missing { color:var(--computed-ink); }
.part { font-style:normal; text-decoration:underline; text-decoration-color:var(--relocated-ink); }
ul.actions code { font-size:1em; } ul.actions { list-style:none; padding:0.6rem 0.9rem; background:var(--box); border-radius:6px; }
details { background:var(--box); border-left:4px solid var(--relocated-ink); border-radius:4px;
  padding:0.7rem 0.9rem; margin:1rem 0; }
summary { cursor:pointer; } summary p { display:inline; }
.right::before { content:"✓ "; color:var(--hit-ink); } .wrong::before { content:"· "; }
ul.holds { list-style:none; padding:0; font-size:0.85em; color:var(--soft); }
details.commands { background:none; border:none; padding:0; margin:0.8rem 0; font-size:0.9em; }
details.commands summary { color:var(--soft); } li code { overflow-wrap:anywhere; }
div.why { color:var(--soft); }
.reveal { display:block; cursor:pointer; color:var(--relocated-ink); margin:1rem 0; }
@media screen { .reveal:not(:has(input:checked)) + .rest { display:none; } }
figure { margin:1.2rem 0; overflow-x:auto; } svg { width:100%; min-width:34rem; height:auto; display:block; }
figure.view { width:min(62rem, 96vw); margin-left:calc(50% - min(31rem, 48vw)); }
figure.view img { box-sizing:border-box; width:100%; height:auto; display:block; border:1px solid var(--line); border-radius:6px; }
figure.view figcaption { margin-top:0.4rem; }
.zoom { display:block; cursor:zoom-in; } .zoom input { position:absolute; opacity:0; }
.zoom:has(input:focus-visible) { outline:2px solid var(--relocated-ink); }
.zoom:has(input:checked) { cursor:zoom-out; }
.zoom input:checked ~ picture img, .zoom input:checked ~ svg { width:max(110rem, 100%); max-width:none; }
svg text { fill:var(--soft); font:12px system-ui, sans-serif; } svg text.number { text-anchor:middle; }
svg text.words { fill:var(--ink); }
@media (max-width:40rem) { figure.view { width:auto; margin-left:0; } svg { min-width:0; }
  .zoom input:checked ~ picture img, .zoom input:checked ~ svg { width:60rem; }
  figcaption .number { display:none; }
  .zoom input:not(:checked) ~ svg .number, .zoom input:not(:checked) ~ svg .words { display:none; }
  .zoom input:not(:checked) ~ svg .caption { font-size:28px; transform:translateY(14px); }
  h1 { font-size:1.6rem; } h2 { font-size:1.25rem; } }
@media print { figure.view { width:100%; margin-left:0; } figure { break-inside:avoid; overflow:visible; }
  svg { min-width:0; } figure.view img, .zoom input:checked ~ picture img, .zoom input:checked ~ svg {
  width:100%; } details.commands, .hint, .reveal { display:none; } h2 { break-after:avoid; } }
svg rect { stroke-width:1; } .hit { fill:var(--hit); stroke:var(--hit-ink); }
.relocated { fill:var(--relocated); stroke:var(--relocated-ink); }
.computed, .again { fill:var(--computed); stroke:var(--computed-ink); }
.ink-relocated { stroke:var(--relocated-ink); stroke-opacity:0.45; fill:none; stroke-width:1.6; }
.ink-computed { fill:var(--computed-ink); fill-opacity:0.45; stroke:none; }
)css";

/// The shared parts of the page's pictures.
constexpr const char* kPatterns =
    R"svg(<svg style="position:absolute;width:0;height:0;min-width:0" aria-hidden="true"><defs>
<pattern id="p-relocated" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<line x1="0" y1="0" x2="0" y2="7" class="ink-relocated"/></pattern>
<pattern id="p-computed" width="6" height="6" patternUnits="userSpaceOnUse">
<circle cx="2" cy="2" r="1.1" class="ink-computed"/></pattern>
<pattern id="p-again" width="4" height="4" patternUnits="userSpaceOnUse">
<circle cx="2" cy="2" r="1.1" class="ink-computed"/></pattern>
</defs></svg>
)svg";

constexpr const char* kLegend =
    R"html(<figcaption><svg viewBox="0 0 16 12" style="width:16px;min-width:0;display:inline"><rect x="1" y="1" width="14" height="10" class="hit"/></svg> cache hit
<svg viewBox="0 0 16 12" style="width:16px;min-width:0;display:inline"><rect x="1" y="1" width="14" height="10" class="relocated"/><rect x="1" y="1" width="14" height="10" fill="url(#p-relocated)"/></svg> relocated hit
<svg viewBox="0 0 16 12" style="width:16px;min-width:0;display:inline"><rect x="1" y="1" width="14" height="10" class="computed"/><rect x="1" y="1" width="14" height="10" fill="url(#p-computed)"/></svg> computed. Each box is a block<span class="number">, with its number below it</span>.</figcaption>
)html";

using Pictures = std::map<std::size_t, std::vector<PagePicture>>;

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::uint32_t kSix = 0x3F;
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](std::size_t next) {
      return next < bytes.size() ? std::uint32_t{static_cast<unsigned char>(bytes[next])} : 0U;
    };
    const std::uint32_t three = at(i) << 16U | at(i + 1) << 8U | at(i + 2);
    out += kDigits[three >> 18U & kSix];
    out += kDigits[three >> 12U & kSix];
    out += i + 1 < bytes.size() ? kDigits[three >> 6U & kSix] : '=';
    out += i + 2 < bytes.size() ? kDigits[three & kSix] : '=';
  }
  return out;
}

std::size_t bytesInPage(const PagePicture& picture) {
  return (picture.light.size() + picture.dark.size()) * 4 / 3;
}

/// Returns the pictures that fit into the page. The smallest pictures come first, so that as many pictures as
/// possible fit.
std::set<const PagePicture*> fittingPictures(const Pictures& pictures) {
  std::vector<const PagePicture*> bySize;
  for (const auto& [step, ofStep] : pictures) {
    for (const PagePicture& picture : ofStep) bySize.push_back(&picture);
  }
  std::ranges::stable_sort(
      bySize, [](const PagePicture* a, const PagePicture* b) { return bytesInPage(*a) < bytesInPage(*b); });
  std::set<const PagePicture*> fitting;
  std::size_t bytes = 0;
  for (const PagePicture* picture : bySize) {
    bytes += bytesInPage(*picture);
    if (bytes > kMostPictureBytes) break;
    fitting.insert(picture);
  }
  return fitting;
}

class PageWriter {
 public:
  PageWriter(const LessonFacts& facts, const Pictures& pictures)
      : m_facts(facts), m_pictures(pictures), m_fitting(fittingPictures(pictures)) {}

  std::string page(const FilledLesson& lesson) {
    m_out =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\">\n<title>" +
        escapedMarkup(lesson.title) + "</title>\n<style>" + kStyle + "</style>\n</head>\n<body>\n" +
        kPatterns + "<h1>" + escapedMarkup(lesson.title) + "</h1>\n<div class=\"head\">" +
        htmlOf(std::to_string(lesson.minutes) + (lesson.minutes == 1 ? " minute" : " minutes") +
               ". After it: " + lesson.after) +
        "</div>\n";
    if (!m_facts.empty()) {
      m_out += "<p class=\"head\">Every number was measured in runs of this lesson on the model <code>" +
               escapedMarkup(m_facts.front().model) +
               "</code>.</p>\n<p class=\"head hint\">Click or tap a picture to enlarge it.</p>\n";
    }
    for (const FilledStep& step : lesson.steps) {
      m_out += "<section id=\"step-" + std::to_string(step.number) + "\">\n<h2>" +
               std::to_string(step.number) + ". " + escapedMarkup(step.title) + "</h2>\n";
      // Pictures show the result of the step's last actions. The text after the actions describes this
      // result.
      const std::size_t last = lastActions(step);
      bool isAsked = false;
      std::size_t folded = 0;
      for (std::size_t i = 0; i < step.blocks.size(); ++i) {
        // The result of the actions answers the question above.
        if (isAsked && std::holds_alternative<FilledActions>(step.blocks[i])) {
          m_out +=
              "<label class=\"reveal\"><input type=\"checkbox\"> Show the result</label>\n<div "
              "class=\"rest\">\n";
          isAsked = false;
          ++folded;
        }
        isAsked = isAsked || std::holds_alternative<FilledQuestion>(step.blocks[i]);
        std::visit(*this, step.blocks[i]);
        if (i == last) showPictures(step.number);
      }
      if (last == step.blocks.size()) showPictures(step.number);
      for (; folded > 0; --folded) m_out += "</div>\n";
      if (!m_commands.empty()) {
        m_out +=
            "<details class=\"commands\">\n<summary>Show commands</summary>\n" + m_commands + "</details>\n";
        m_commands.clear();
      }
      m_out += "</section>\n";
    }
    m_out += "</body>\n</html>\n";
    return std::move(m_out);
  }

  void operator()(const FilledProse& prose) { m_out += html(prose); }

  void operator()(const FilledActions& actions) {
    m_commands += "<ul class=\"actions\">\n";
    for (const FilledAction& action : actions) {
      m_commands += "<li><code>" + escapedMarkup(action.line) + "</code>";
      if (action.run > 0) m_commands += " – run " + std::to_string(action.run);
      m_commands += "</li>\n";
    }
    m_commands += "</ul>\n";
    for (const FilledAction& action : actions) {
      if (action.run == 0 || action.run > m_facts.size()) continue;
      m_out += "<figure>\n" +
               zoomable(promptPicture(m_facts[action.run - 1], "Run " + std::to_string(action.run))) +
               kLegend + "</figure>\n";
    }
  }

  void operator()(const FilledQuestion& question) {
    m_out += "<details>\n<summary>" + html(question.text) + "</summary>\n";
    if (!question.choices.empty()) {
      m_out += "<ul>\n";
      for (const FilledChoice& choice : question.choices) {
        m_out += std::string("<li class=\"") + (choice.isRight.value_or(false) ? "right" : "wrong") + "\">" +
                 escapedMarkup(choice.text) + "</li>\n";
      }
      m_out += "</ul>\n";
    } else if (!question.answer.empty()) {
      m_out += std::string("<p>Result of the run: <span class=\"figure\">") +
               (question.kind == Question::Kind::Block ? "block " : "") + escapedMarkup(question.answer) +
               "</span></p>\n";
    }
    if (!question.missing.empty())
      m_out += "<p class=\"missing\">Not known: " + escapedMarkup(question.missing) + "</p>\n";
    if (!question.why.pieces.empty()) m_out += "<div class=\"why\">" + html(question.why) + "</div>\n";
    m_out += "</details>\n";
  }

  void operator()(const FilledClaims& claims) {
    if (claims.empty()) return;
    m_commands += "<ul class=\"holds\">\n";
    for (const FilledClaim& claim : claims) {
      m_commands += std::string("<li>") +
                    (!claim.holds   ? "–"
                     : *claim.holds ? "✓"
                                    : "✗") +
                    " <code>" + escapedMarkup(claim.written) + "</code>";
      if (!claim.missing.empty())
        m_commands += " <span class=\"missing\">" + escapedMarkup(claim.missing) + "</span>";
      m_commands += "</li>\n";
    }
    m_commands += "</ul>\n";
  }

 private:
  /// A click enlarges the picture. The page has no script, so a check box keeps the state.
  static std::string zoomable(const std::string& picture) {
    return "<label class=\"zoom\"><input type=\"checkbox\" aria-label=\"Enlarge the picture\">" + picture +
           "</label>\n";
  }

  static std::size_t lastActions(const FilledStep& step) {
    for (std::size_t i = step.blocks.size(); i-- > 0;) {
      if (std::holds_alternative<FilledActions>(step.blocks[i])) return i;
    }
    return step.blocks.size();
  }

  void showPictures(std::size_t step) {
    const auto found = m_pictures.find(step);
    if (found == m_pictures.end()) return;
    for (const PagePicture& picture : found->second) {
      const std::string title = escapedMarkup(picture.title);
      if (!m_fitting.contains(&picture)) {
        m_out += "<p class=\"missing\">" + title +
                 /*id:picture-too-large*/
                 ": this picture is too large for the page. The window of Spanscope shows the picture at "
                 "this step.</p>\n";
        continue;
      }
      m_out += "<figure class=\"view\">" +
               zoomable(
                   "<picture><source media=\"(prefers-color-scheme: dark)\" "
                   "srcset=\"data:image/svg+xml;base64," +
                   base64(picture.dark) + "\"><img alt=\"" + title + "\" src=\"data:image/svg+xml;base64," +
                   base64(picture.light) + "\"></picture>") +
               "<figcaption>" + title + "</figcaption></figure>\n";
    }
  }

  /// Metrics are inserted after the Markdown around them has become HTML. Nothing in their text is then read
  /// as Markdown.
  static std::string html(const FilledProse& prose) {
    std::string markdown;
    std::vector<std::string> spans;
    for (const FilledPiece& piece : prose.pieces) {
      if (piece.kind == FilledPiece::Kind::Text) {
        std::ranges::copy_if(piece.text, std::back_inserter(markdown),
                             [](char c) { return c != kMetricMark; });
        continue;
      }
      const bool isKnown = piece.kind == FilledPiece::Kind::Metric;
      markdown += kMetricMark;
      spans.push_back(std::string("<span class=\"") + (isKnown ? "figure" : "missing") + "\" title=\"" +
                      escapedMarkup(piece.metric) + "\">" + (isKnown ? "" : "not known: ") +
                      escapedMarkup(piece.text) + "</span>");
    }
    std::string out;
    const std::string text = htmlOf(markdown);
    std::size_t next = 0;
    for (const char c : text) {
      if (c == kMetricMark && next < spans.size())
        out += spans[next++];
      else
        out += c;
    }
    return out;
  }

  static constexpr char kMetricMark = '\x1a';  ///< removed from texts

  const LessonFacts& m_facts;
  const Pictures& m_pictures;
  std::set<const PagePicture*> m_fitting;
  std::string m_out;
  std::string m_commands;  ///< the actions and claims of the current step
};

}  // namespace

std::string pageOf(const FilledLesson& lesson, const LessonFacts& facts, const Pictures& pictures) {
  return PageWriter(facts, pictures).page(lesson);
}

namespace {

/// Writes emphasis, code and links of one run of text.
class InlineHtml {
 public:
  explicit InlineHtml(std::string_view text) : m_text(text) {}

  std::string html() {
    while (m_at < m_text.size()) {
      if (!takeCode() && !takeLink() && !takePair("**", "strong") && !takePair("*", "em")) {
        m_out += escapedMarkup(m_text.substr(m_at, 1));
        ++m_at;
      }
    }
    return std::move(m_out);
  }

 private:
  std::string_view rest() const { return m_text.substr(m_at); }

  bool takeCode() {
    if (!rest().starts_with('`')) return false;
    const std::size_t end = m_text.find('`', m_at + 1);
    if (end == std::string_view::npos) return false;
    m_out += "<code>" + escapedMarkup(m_text.substr(m_at + 1, end - m_at - 1)) + "</code>";
    m_at = end + 1;
    return true;
  }

  bool takeLink() {
    if (!rest().starts_with('[')) return false;
    const std::size_t middle = m_text.find("](", m_at);
    if (middle == std::string_view::npos) return false;
    const std::size_t end = m_text.find(')', middle);
    if (end == std::string_view::npos) return false;
    const std::string words = InlineHtml(m_text.substr(m_at + 1, middle - m_at - 1)).html();
    const std::string_view where = m_text.substr(middle + 2, end - middle - 2);
    if (where.starts_with("https://"))
      m_out += "<a href=\"" + escapedMarkup(where) + "\">" + words + "</a>";
    else
      m_out += "<em class=\"part\">" + words + "</em>";
    m_at = end + 1;
    return true;
  }

  bool takePair(std::string_view mark, std::string_view tag) {
    if (!rest().starts_with(mark)) return false;
    const std::size_t begin = m_at + mark.size();
    const std::size_t end = m_text.find(mark, begin);
    if (end == std::string_view::npos || end == begin || m_text[begin] == ' ') return false;
    const std::string inside = InlineHtml(m_text.substr(begin, end - begin)).html();
    m_out += "<" + std::string(tag) + ">" + inside + "</" + std::string(tag) + ">";
    m_at = end + mark.size();
    return true;
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  std::string m_out;
};

enum class LineKind { Text, Blank, Bullet, Numbered, Fence };

LineKind kindOf(std::string_view line) {
  if (line.find_first_not_of(" \t") == std::string_view::npos) return LineKind::Blank;
  if (line.starts_with("```")) return LineKind::Fence;
  if (line.starts_with("- ")) return LineKind::Bullet;
  const std::size_t dot = line.find_first_not_of("0123456789");
  if (dot != std::string_view::npos && dot > 0 && line.substr(dot).starts_with(". "))
    return LineKind::Numbered;
  return LineKind::Text;
}

class BlockHtml {
 public:
  std::string html(std::string_view markdown) {
    for (const std::string_view line : splitAt(markdown, '\n')) take(line);
    if (m_isCode) m_out += "</code></pre>\n";
    close();
    return std::move(m_out);
  }

 private:
  void take(std::string_view line) {
    const LineKind kind = kindOf(line);
    if (m_isCode) {
      m_out += kind == LineKind::Fence ? "</code></pre>\n" : escapedMarkup(line) + "\n";
      m_isCode = kind != LineKind::Fence;
      return;
    }
    switch (kind) {
      case LineKind::Fence:
        close();
        m_out += "<pre><code>";
        m_isCode = true;
        break;
      case LineKind::Blank:
        close();
        break;
      case LineKind::Bullet:
      case LineKind::Numbered:
        if (m_list != kind) close();
        endEntry();
        m_list = kind;
        m_text = line.substr(line.find(' ') + 1);
        break;
      case LineKind::Text:
        if (!m_text.empty()) m_text += '\n';
        m_text += line;
        break;
    }
  }

  /// Ends the current entry of a list.
  void endEntry() {
    if (m_text.empty()) return;
    if (m_entries == 0) m_out += m_list == LineKind::Bullet ? "<ul>\n" : "<ol>\n";
    ++m_entries;
    m_out += "<li>" + InlineHtml(m_text).html() + "</li>\n";
    m_text.clear();
  }

  void close() {
    if (m_list != LineKind::Text) {
      endEntry();
      if (m_entries > 0) m_out += m_list == LineKind::Bullet ? "</ul>\n" : "</ol>\n";
      m_entries = 0;
      m_list = LineKind::Text;
    } else if (!m_text.empty()) {
      m_out += "<p>" + InlineHtml(m_text).html() + "</p>\n";
      m_text.clear();
    }
  }

  std::string m_out;
  std::string m_text;  ///< of the current paragraph or entry
  LineKind m_list = LineKind::Text;
  std::size_t m_entries = 0;  ///< of the current list
  bool m_isCode = false;
};

}  // namespace

std::string htmlOf(std::string_view markdown) {
  return BlockHtml().html(markdown);
}

namespace {

constexpr double kWidth = 960;       ///< width of the picture, in its own pixels
constexpr double kBox = 34;          ///< height of a block
constexpr double kGap = 3;           ///< between blocks
constexpr double kPartGap = 9;       ///< between sections of the prompt
constexpr double kLine = 106;        ///< height of one prompt, with its text above and below
constexpr double kSkippedLine = 36;  ///< height of the line about prompts without a picture
constexpr double kTop = 40;          ///< distance of the blocks from the top of their line
constexpr double kLetter = 6.6;      ///< approximate width of one character
constexpr std::size_t kMostPrompts = 6;

std::string pixels(double value) {
  return trace::fixedPoint(value, 1);
}

/// The tokens of one block in a prompt: how many were hits, relocated or computed, in prompt order.
struct BlockBox {
  trace::BlockPlace place;
  NodePath node;  ///< node of its first token
  std::string text;
  std::string words;  ///< the text without the parts that the chat template adds
  std::int64_t tokens = 0;
  std::vector<std::pair<const char*, std::int64_t>> runs{};  ///< class of the style sheet, and tokens
};

const char* classOf(const metrics::TokenAccount& account) {
  if (account.hit > 0) return "hit";
  if (account.relocated > 0) return "relocated";
  return account.again > 0 ? "again" : "computed";
}

/// ", 28 hit, 8 recomputed, 9 computed": the counts that are not zero.
std::string countsOf(const metrics::TokenAccount& account) {
  std::string out;
  for (const auto& [count, words] :
       {std::pair(account.hit, " hit"), std::pair(account.relocated, " relocated"),
        std::pair(account.again, " recomputed"), std::pair(account.computed, " computed")}) {
    if (count > 0) out += ", " + std::to_string(count) + words;
  }
  return out;
}

/// Returns the run of each token of a segment.
std::vector<const trace::TokenRunInfo*> runsOf(const trace::SegmentInfo& segment) {
  std::vector<const trace::TokenRunInfo*> runs;
  for (const trace::TokenRunInfo& run : segment.runs)
    runs.insert(runs.end(), static_cast<std::size_t>(std::max(run.count, 0)), &run);
  return runs;
}

std::vector<BlockBox> boxesOf(const metrics::RequestFacts& request, std::int32_t blockSize) {
  std::map<std::uint32_t, std::vector<const trace::TokenRunInfo*>> runs;
  std::vector<BlockBox> boxes;
  for (const metrics::ViewToken& token : metrics::tokensInView(request)) {
    const trace::SegmentInfo& segment = request.segments[token.segment];
    const trace::BlockPlace place = metrics::blockOf(token, blockSize);
    const auto [known, isNew] = runs.try_emplace(token.segment);
    if (isNew) known->second = runsOf(segment);
    const auto local = static_cast<std::size_t>(token.local);
    const trace::TokenRunInfo* const run = local < known->second.size() ? known->second[local] : nullptr;
    if (boxes.empty() || boxes.back().place != place)
      boxes.push_back(
          {.place = place, .node = run != nullptr ? run->node : NodePath(), .text = {}, .words = {}});
    BlockBox& box = boxes.back();
    ++box.tokens;
    if (local < segment.texts.size()) {
      box.text += segment.texts[local];
      if (run != nullptr && run->source != trace::TokenSource::Template) box.words += segment.texts[local];
    }
    const char* const kind = classOf(request.tokens.of(token.segment, token.local, token.local + 1));
    if (box.runs.empty() || box.runs.back().first != kind) box.runs.emplace_back(kind, 0);
    ++box.runs.back().second;
  }
  return boxes;
}

class PromptPicture {
 public:
  std::string svg(const metrics::RunFacts& run, std::string_view title) {
    // The last prompt is that of the query.
    const std::size_t count = run.requests.size();
    const std::size_t skipped = count > kMostPrompts ? count - kMostPrompts : 0;
    const std::size_t shown = count - skipped;
    const double height = kLine * static_cast<double>(shown) + (skipped > 0 ? kSkippedLine : 0) + 6;
    m_out = "<svg viewBox=\"0 0 " + pixels(kWidth) + " " + pixels(height) + "\" role=\"img\" aria-label=\"" +
            escapedMarkup(title) + "\">\n<title>" + escapedMarkup(title) + "</title>\n";
    double top = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (skipped > 0 && i == shown - 1) {
        text(2, top + 14, "caption",
             counted(skipped, "more subquery", "more subqueries") + " without a picture");
        top += kSkippedLine;
        m_subqueries += skipped;
        i += skipped;
      }
      prompt(run, run.requests[i], top);
      top += kLine;
    }
    m_out += "</svg>\n";
    return std::move(m_out);
  }

 private:
  void prompt(const metrics::RunFacts& run, const metrics::RequestFacts& request, double top) {
    const std::vector<BlockBox> boxes = boxesOf(request, run.blockSize);
    std::int64_t tokens = 0;
    double gaps = 0;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      tokens += boxes[i].tokens;
      if (i > 0) gaps += boxes[i].place.segment == boxes[i - 1].place.segment ? kGap : kPartGap;
    }
    if (tokens == 0) return;
    const double perToken = std::max(0.2, (kWidth - 4 - gaps) / static_cast<double>(tokens));
    metrics::TokenAccount account = request.tokens.prompt(request.segments);
    text(2, top + 14, "caption",
         "prompt of " + (request.node.empty() ? "the query" : "subquery " + std::to_string(++m_subqueries)) +
             ": " + counted(account.total(), "token") + countsOf(account));
    double left = 2;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const BlockBox& box = boxes[i];
      if (i > 0) left += box.place.segment == boxes[i - 1].place.segment ? kGap : kPartGap;
      const double width = perToken * static_cast<double>(box.tokens);
      m_out += "<g><title>" +
               escapedMarkup("block " + std::to_string(i) + ", " + counted(box.tokens, "token") + ": " +
                             query::cutText(box.text, 120)) +
               "</title>\n";
      double x = left;
      for (const auto& [kind, count] : box.runs) {
        const double part = perToken * static_cast<double>(count);
        rectangle(x, top + kTop, part, kBox, kind);
        x += part;
      }
      m_out += "</g>\n";
      // Overlapping numbers are left out.
      if (width >= 14) text(left + width / 2, top + kTop + kBox + 14, "number", std::to_string(i));
      left += width;
    }
    labels(boxes, perToken, top);
  }

  /// Returns the first words of each part, as far as there is space for these words.
  void labels(const std::vector<BlockBox>& boxes, double perToken, double top) {
    double left = 2;
    for (std::size_t i = 0; i < boxes.size();) {
      std::string words;
      double end = left;
      std::size_t next = i;
      for (; next < boxes.size() && boxes[next].node == boxes[i].node; ++next) {
        if (next > i) end += boxes[next].place.segment == boxes[next - 1].place.segment ? kGap : kPartGap;
        end += perToken * static_cast<double>(boxes[next].tokens);
        words += boxes[next].words;
      }
      const auto room = static_cast<std::size_t>((end - left) / kLetter);
      const std::size_t begin = words.find_first_not_of(' ');
      if (room >= 4 && begin != std::string::npos)
        text(left, top + kTop - 6, "words", query::cutText(std::string_view(words).substr(begin), room));
      if (next < boxes.size())
        left = end + (boxes[next].place.segment == boxes[next - 1].place.segment ? kGap : kPartGap);
      i = next;
    }
  }

  void rectangle(double x, double y, double width, double height, const std::string& kind) {
    const std::string at = "<rect x=\"" + pixels(x) + "\" y=\"" + pixels(y) + "\" width=\"" + pixels(width) +
                           "\" height=\"" + pixels(height) + "\" rx=\"2\" ";
    m_out += at + "class=\"" + kind + "\"/>\n";
    if (kind != "hit") m_out += at + "fill=\"url(#p-" + kind + ")\"/>\n";
  }

  void text(double x, double y, const char* kind, const std::string& words) {
    m_out += "<text x=\"" + pixels(x) + "\" y=\"" + pixels(y) + "\" class=\"" + kind + "\">" +
             escapedMarkup(words) + "</text>\n";
  }

  std::string m_out;
  std::size_t m_subqueries = 0;  ///< number of captions of subqueries so far
};

}  // namespace

std::string promptPicture(const metrics::RunFacts& run, std::string_view title) {
  return PromptPicture().svg(run, title);
}

}  // namespace spanscope::lesson
