// SPDX-License-Identifier: GPL-3.0-or-later
// What the emulation tells the address sanitizer; nothing where there is none.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define SPANSCOPE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SPANSCOPE_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef SPANSCOPE_ADDRESS_SANITIZER
#define SPANSCOPE_ADDRESS_SANITIZER 0
#endif

#if SPANSCOPE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define SPANSCOPE_NO_ADDRESS_SANITIZER __attribute__((noinline, no_sanitize("address")))
#else
#define SPANSCOPE_NO_ADDRESS_SANITIZER __attribute__((noinline))
#endif

namespace spanscope::cuda::emulation {

/// Whoever reads or writes there is reported.
inline void poison([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t bytes) {
#if SPANSCOPE_ADDRESS_SANITIZER
  __asan_poison_memory_region(begin, bytes);
#endif
}
inline void unpoison([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t bytes) {
#if SPANSCOPE_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(begin, bytes);
#endif
}

inline void startSwitch([[maybe_unused]] void** fakeStack, [[maybe_unused]] const void* bottom,
                        [[maybe_unused]] std::size_t bytes) {
#if SPANSCOPE_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(fakeStack, bottom, bytes);
#endif
}
inline void finishSwitch([[maybe_unused]] void* fakeStack, [[maybe_unused]] const void** oldBottom,
                         [[maybe_unused]] std::size_t* oldBytes) {
#if SPANSCOPE_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(fakeStack, oldBottom, oldBytes);
#endif
}

}  // namespace spanscope::cuda::emulation
