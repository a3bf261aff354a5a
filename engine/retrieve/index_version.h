// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace spanscope::retrieve {

/// Version of the files of an index. It is increased with every change of the tables or of the hashed facts.
/// Files of another version are refused.
inline constexpr int kIndexVersion = 6;

}  // namespace spanscope::retrieve
