// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/counted.h"
#include "engine/base/visible_text.h"
#include "engine/lesson/page.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::lesson {
namespace {

constexpr double kWidth = 960;   ///< of the picture, in its own pixels
constexpr double kBox = 34;      ///< height of a block
constexpr double kGap = 3;       ///< between blocks
constexpr double kPartGap = 9;   ///< between sections of the prompt
constexpr double kLine = 106;    ///< of one prompt, with its text above and below
constexpr double kTop = 40;      ///< of the blocks below the top of their line
constexpr double kLetter = 6.6;  ///< about the width of one
constexpr std::size_t kMostPrompts = 6;

std::string pixels(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

/// Tokens of one block of the view, by how they were served, in prompt order.
struct BlockBox {
  trace::BlockPlace place;
  NodePath node;  ///< of its first token
  std::string text;
  std::string words;  ///< the same without what the chat template writes
  std::int64_t tokens = 0;
  std::vector<std::pair<const char*, std::int64_t>> runs{};  ///< class of the style sheet, and tokens
};

const char* classOf(const metrics::TokenAccount& account) {
  if (account.hit > 0) return "hit";
  if (account.relocated > 0) return "relocated";
  return account.again > 0 ? "again" : "computed";
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
    const std::size_t shown = std::min(run.requests.size(), kMostPrompts);
    const double height = kLine * static_cast<double>(shown) + 6;
    m_out = "<svg viewBox=\"0 0 " + pixels(kWidth) + " " + pixels(height) + "\" role=\"img\" aria-label=\"" +
            escapedMarkup(title) + "\">\n<title>" + escapedMarkup(title) + "</title>\n";
    for (std::size_t i = 0; i < shown; ++i) prompt(run, run.requests[i], kLine * static_cast<double>(i));
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
         "prompt " + (request.node.empty() ? std::string("of the query") : "of " + request.node) + ": " +
             counted(account.total(), "token") + ", " + std::to_string(account.hit) + " hit, " +
             std::to_string(account.relocated) + " relocated, " + std::to_string(account.computed) +
             " computed");
    double left = 2;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const BlockBox& box = boxes[i];
      if (i > 0) left += box.place.segment == boxes[i - 1].place.segment ? kGap : kPartGap;
      const double width = perToken * static_cast<double>(box.tokens);
      m_out += "<g><title>" +
               escapedMarkup("block " + std::to_string(i + 1) + ", " + counted(box.tokens, "token") + ": " +
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

  /// Returns the first words of each part, as far as there is room for them.
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
};

}  // namespace

std::string promptPicture(const metrics::RunFacts& run, std::string_view title) {
  return PromptPicture().svg(run, title);
}

}  // namespace spanscope::lesson
