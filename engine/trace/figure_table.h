// SPDX-License-Identifier: GPL-3.0-or-later
// The one table of figures by name: what a figure of a run is called, its unit, what it means, from which
// events it comes, and how it is had. Lessons name figures by it, and the manual's page on numbers lists it.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/run_facts.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace spanscope::trace {

enum class FigureUnit : std::uint8_t {
  Number,  ///< a ratio, or a number of something that has no unit of its own
  Tokens,
  Blocks,
  Seconds,
  Share,  ///< 0 … 1
  Nats,
  Place,  ///< a block of a prompt, counted from 1 in view order
  Text,
};
/// "tokens", "ms", "%", …; empty for a text.
const char* unitName(FigureUnit unit);

/// A number in the figure's unit, or a text.
using FigureValue = std::variant<double, std::string>;

/// What must have been done before a figure can be had.
enum class FigureNeeds : std::uint8_t {
  Run,
  Fidelity  ///< the fidelity of the run was measured
};

struct Figure {
  std::string_view name;  ///< "cached tokens"; lower case, words of letters and hyphens
  FigureUnit unit = FigureUnit::Number;
  const char* meaning = "";  ///< marked by forTranslation("Figures", …); no full stop
  const char* events = "";   ///< names of events, separated by ", "
  /// Of a whole run; nothing where the trace does not say it. Null: only a node has it.
  std::optional<FigureValue> (*ofRun)(const RunFacts& run) = nullptr;
  /// Of the tokens of a node and those below it, in all prompts of the run; nothing where no prompt shows
  /// any. Null: only a run has it.
  std::optional<FigureValue> (*ofNode)(const RunFacts& run, const NodePath& node) = nullptr;
  FigureNeeds needs = FigureNeeds::Run;

  /// Whether two runs of the same query may differ in it: times may.
  bool isTime() const { return unit == FigureUnit::Seconds; }
};

std::span<const Figure> figures();
/// Null: there is none of this name.
const Figure* findFigure(std::string_view name);

/// As a person reads it: "70", "2.9 ms", "84 %", "0.012". Counts and places have no unit, since sentences say
/// it; neither has a ratio.
std::string figureText(FigureUnit unit, const FigureValue& value);
/// "0.27 ms", "3.1 ms", "120 ms", "1.25 s"
std::string durationText(double seconds);

}  // namespace spanscope::trace
