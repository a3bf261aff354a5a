// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace spanscope::retrieve {

/// Of the files of an index: raised with every change of the tables or of what is hashed. Files of another
/// version are refused.
inline constexpr int kIndexVersion = 5;

}  // namespace spanscope::retrieve
