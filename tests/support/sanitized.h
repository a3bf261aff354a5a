// SPDX-License-Identifier: GPL-3.0-or-later
// Whether what includes this is compiled with the address sanitizer or the thread sanitizer: 1 or 0.
#pragma once

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

#if defined(__SANITIZE_THREAD__)
#define SPANSCOPE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SPANSCOPE_THREAD_SANITIZER 1
#endif
#endif
#ifndef SPANSCOPE_THREAD_SANITIZER
#define SPANSCOPE_THREAD_SANITIZER 0
#endif
