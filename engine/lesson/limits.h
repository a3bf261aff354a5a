// SPDX-License-Identifier: GPL-3.0-or-later
// How large a lesson may be. Lessons come from anybody; what is larger is refused, with its place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace spanscope::lesson {

inline constexpr std::size_t kMaxBytes = std::size_t{256} << 10U;  ///< of the file
inline constexpr std::size_t kMaxSteps = 60;
inline constexpr std::size_t kMaxBlocks = 12;      ///< of one step: paragraphs of text, and fenced blocks
inline constexpr std::size_t kMaxActions = 16;     ///< of one step
inline constexpr std::size_t kMaxRuns = 40;        ///< of a lesson
inline constexpr std::size_t kMaxStepText = 1600;  ///< characters of one step's text: one thought
inline constexpr std::size_t kMaxQueries = 20;
inline constexpr std::size_t kMaxChoices = 6;
inline constexpr std::size_t kMaxTerms = 32;  ///< figures and numbers in one expression
inline constexpr std::int64_t kMaxMinutes = 120;
/// Faults after which reading and checking end.
inline constexpr std::size_t kMaxFaults = 100;

}  // namespace spanscope::lesson
